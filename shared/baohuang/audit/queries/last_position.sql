-- last_position: the last position given out, by the counter and by the events.
select c.last_position as counted, (select max(e.position) from eventlog.events as e) as stored
from eventlog.counter as c
