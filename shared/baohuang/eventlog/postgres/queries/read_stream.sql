-- read_stream: one stream's events after a version, in order.
select position, stream_id, version, type, data, actor, request_id, recorded_at, salt, hash
from eventlog.events
where stream_id = $1 and version > $2
order by version
limit $3
