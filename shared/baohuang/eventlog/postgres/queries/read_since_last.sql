-- read_since_last: one stream's events from the last of a type on, found by walking back over just those events.
select position, stream_id, version, type, data, actor, request_id,
       least(greatest(recorded_at, '0001-01-01 00:00:00+00'), '9999-12-31 23:59:59.999999+00') as recorded_at, salt, hash
from eventlog.events
where stream_id = $1 and version >= coalesce((
    select last.version from eventlog.events as last
    where last.stream_id = $1 and last.type = $2
    order by last.version desc
    limit 1
), 0)
order by version
