-- many_weeks: the log again and again, $1 times, with tables and players of their own, each time a week later.
insert into eventlog.events (position, recorded_at, version, stream_id, type, actor, request_id, data, salt, hash)
select e.position + n.week * (select last_position from eventlog.counter),
       e.recorded_at + n.week * interval '7 days',
       e.version,
       e.stream_id || '-' || n.week,
       e.type,
       case when e.actor in ('an', 'bo', 'cai', 'du', 'en') then e.actor || '-' || n.week else e.actor end,
       e.request_id || '-' || n.week,
       regexp_replace(e.data::text, '"(an|bo|cai|du|en)"', '"\1-' || n.week || '"', 'g')::jsonb,
       e.salt,
       e.hash
from generate_series(1, $1::integer) as n (week) cross join eventlog.events as e
order by 1
