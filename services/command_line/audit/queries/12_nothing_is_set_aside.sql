-- No message is set aside, and no consumer has found what must not be.
select format('%s: message %s is set aside: %s', consumer, number, error) as finding
from (
    select * from scoring.set_aside union all select * from rating.set_aside
) as set_aside
where settled_as is null
union all
select format('%s: stopped at message %s: %s', consumer, number, alarm)
from (
    select consumer, number, alarm from scoring.checkpoints
    union all
    select consumer, number, alarm from rating.checkpoints
) as checkpoints
where alarm is not null
order by finding
limit $1
