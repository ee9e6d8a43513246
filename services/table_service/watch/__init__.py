"""WatchTable: each viewer's own contiguous stream of a table, and what is told beside it.

`hub` hands every event that the replica learns of to the table's watchers, `telling` in the form in which it is sent;
`stream` opens and writes one watcher's side of it, and `reader` says what he is told next. `lines` sees who is there.
`postings` hears of scores and fines, which wait as `notices` until he has been shown what they follow from.
"""
