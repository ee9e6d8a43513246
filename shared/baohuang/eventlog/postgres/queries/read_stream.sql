-- read_stream: one stream's events after a version, in order. A moment that no program can hold, which no service writes,
-- comes as the first or last one that it can, here and wherever events are read; their hashes then show it.
select position, stream_id, version, type, data, actor, request_id,
       least(greatest(recorded_at, '0001-01-01 00:00:00+00'), '9999-12-31 23:59:59.999999+00') as recorded_at, salt, hash
from eventlog.events
where stream_id = $1 and version > $2
order by version
limit $3
