-- read_all: the whole log's events after a position, in order.
select position, stream_id, version, type, data, actor, request_id, recorded_at, salt, hash
from eventlog.events
where position > $1
order by position
limit $2
