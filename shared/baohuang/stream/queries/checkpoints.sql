-- checkpoints: every consumer of the schema, with how many messages it has set aside.
select c.consumer, c.number, c.alarm,
       (select count(*) from set_aside as s where s.consumer = c.consumer and s.settled_as is null) as set_aside
from checkpoints as c
order by c.consumer
