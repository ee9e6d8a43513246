"""Verification: whether a log is what was played, from the log alone.

    chain ──► decisions ──► deals         of one stream, event by event (`StreamAudit`)
    positions, heads                      of the whole log (`LogAudit`)

Nothing here writes, and nothing takes more memory for a longer log.
"""
