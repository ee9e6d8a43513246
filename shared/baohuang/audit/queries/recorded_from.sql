-- recorded_from: when the first event from a position on was recorded.
select recorded_at from eventlog.events where position >= $1 order by position limit 1
