-- read_since_last: one stream's events from the last of a type on, found by walking back over just those events.
select position, stream_id, version, type, data, actor, request_id, recorded_at, salt, hash
from eventlog.events
where stream_id = $1 and version >= coalesce((
    select last.version from eventlog.events as last
    where last.stream_id = $1 and last.type = $2
    order by last.version desc
    limit 1
), 0)
order by version
