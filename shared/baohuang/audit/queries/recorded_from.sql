-- recorded_from: whether the first event from a position on was recorded before a moment.
select recorded_at < $2 as earlier from eventlog.events where position >= $1 order by position limit 1
