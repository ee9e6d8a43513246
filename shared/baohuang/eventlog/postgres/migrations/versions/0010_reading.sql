-- Reading all of the log and changing nothing of it: for who looks back, and for who verifies.

grant usage on schema eventlog to baohuang_history;
grant select on
    eventlog.events, eventlog.heads, eventlog.counter, eventlog.requests, eventlog.rulings_about, eventlog.checkpoints
    to baohuang_history;
grant execute on function eventlog.players_of, eventlog.position_at, eventlog.version_at to baohuang_history;
