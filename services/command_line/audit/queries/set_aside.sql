-- What waits, was passed over, or stopped a consumer: who, how, at which number, of what, how often tried, since when, why.
select 'scoring' as who, 'waits' as how, u.number::bigint as number,
       format('position %s, %s of table %s version %s', u.position, e.type, e.stream_id, e.version) as what,
       u.tries, u.since, u.error
from scoring.unscored as u
left join eventlog_public.events as e on e.position = u.position
union all
select 'scoring', 'passed', number, subject, tried, set_aside_at, error
from scoring.set_aside
where settled_as is null
union all
select 'rating', 'waits', number, subject, tried, set_aside_at, error
from rating.set_aside
where settled_as is null
union all
select who, 'stopped', number, format('%s: message %s was the last one applied', consumer, number), 1, alarmed_at, alarm
from (
    select 'scoring' as who, * from scoring.checkpoints
    union all
    select 'rating', * from rating.checkpoints
) as checkpoints
where alarm is not null
order by who desc, how desc, number
