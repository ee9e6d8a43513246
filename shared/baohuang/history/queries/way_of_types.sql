-- way_of_types: positions of events of some types, walked to along an index of each.
select one.position
from unnest($3) as wanted (type)
cross join lateral (
    select e.position
    from eventlog.events as e
    where e.type = wanted.type and {key}
        and {filters}
    order by {place} {direction}
    limit $8
) as one
