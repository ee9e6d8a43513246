"""WatchTable: each viewer's own contiguous stream of a table.

`hub` hands every event that the replica learns of to the table's watchers, `telling` in the form in which it is sent;
`stream` is one watcher's side of it.
"""
