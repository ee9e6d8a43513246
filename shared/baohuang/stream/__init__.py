"""What replicas tell each other over NATS. Nothing is decided from it: the log is the truth, and answers without it."""
