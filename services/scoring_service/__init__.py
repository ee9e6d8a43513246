"""The scoring service: the points of hands and fines, in a ledger that follows the event log."""
