-- read_all: the whole log's events after a position, in order.
select position, stream_id, version, type, data, actor, request_id,
       least(greatest(recorded_at, '0001-01-01 00:00:00+00'), '9999-12-31 23:59:59.999999+00') as recorded_at, salt, hash
from eventlog.events
where position > $1
order by position
limit $2
