-- version_at: the last version of a stream that was recorded at a moment or before. The last event that may have been is
-- found by halving, with a minute of room, and walked back from.
select e.version
from eventlog.events as e
where e.stream_id = $1 and e.recorded_at <= $2
    and e.version <= eventlog.version_at(
        $1, coalesce(eventlog.position_at($2 + interval '1 minute'), 9223372036854775807)
    )
order by e.version desc
limit 1
