-- event_page: a page of events, found by all the ways that lead to some of them.
{asked}
select e.position, e.stream_id, e.version, e.type, e.data, e.actor, e.request_id, e.recorded_at, e.salt, e.hash
from (
    select way.position from ({ways}) as way order by way.position {direction} limit $8
) as found
join eventlog.events as e on e.position = found.position
order by e.position {direction}
