-- last_position: the last position given out, by the counter (null: it was removed) and by the events (null: none).
select (select c.last_position from eventlog.counter as c) as counted,
       (select max(e.position) from eventlog.events as e) as stored
