"""What goes over NATS: pokes between replicas, and what happened, for the services that follow it.

Nothing is decided from it: the log is the truth, and answers without it.

`link` and `subjects` are the pokes. `port` has the words of the rest, `streams` its names: a source is numbered
1, 2, 3, …; a `relay` publishes it to JetStream in that order; a `consumer` has each message applied once, in one
transaction with how far it has got.
"""
