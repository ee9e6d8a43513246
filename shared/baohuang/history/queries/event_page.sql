-- event_page: a page of events, found by all the ways that lead to some of them.
{asked}
select e.position, e.stream_id, e.version, e.type, e.data, e.actor, e.request_id,
       least(greatest(e.recorded_at, '0001-01-01 00:00:00+00'), '9999-12-31 23:59:59.999999+00') as recorded_at,
       e.salt, e.hash
from ({found}) as e
order by e.position {direction}
limit $8
