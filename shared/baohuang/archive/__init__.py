"""Archives: a finished table's record in a file of its own, which proves itself, and from the file back into a log.

    finished ──► writing ──► form ──► verifying       a file, and whether it is what was played
    (the log)                  └────► restoring       the log again, or another one

Nothing leaves the log by being archived (docs/adr/0013).
"""
