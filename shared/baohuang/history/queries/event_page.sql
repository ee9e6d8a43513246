-- event_page: a page of events, found by all the ways that lead to some of them.
{asked}
select e.position, e.stream_id, e.version, e.type, e.data, e.actor, e.request_id, e.recorded_at, e.salt, e.hash
from ({found}) as e
order by e.position {direction}
limit $8
