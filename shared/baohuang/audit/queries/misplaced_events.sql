-- misplaced_events: events before the first position or behind the last counted one: the first of each of some streams.
select distinct on (e.stream_id) e.stream_id, e.version, e.position
from eventlog.events as e
where e.position < 1 or e.position > (select c.last_position from eventlog.counter as c)
order by e.stream_id, e.version
limit $1
