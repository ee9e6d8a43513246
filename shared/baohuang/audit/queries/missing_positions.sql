-- missing_positions: the positions of a range at which there is no event, some of the first.
select wanted.position
from generate_series($1::bigint + 1, $2::bigint) as wanted (position)
where not exists (select from eventlog.events as e where e.position = wanted.position)
order by wanted.position
limit $3
