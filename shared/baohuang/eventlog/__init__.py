"""The event log: one append-only, hash-chained record of what happened at every table."""
