-- way_of_types: events of some types, walked to along an index of each.
select one.*
from unnest($3) as wanted (type)
cross join lateral (
    select {what}
    from eventlog.events as e
    where e.type = wanted.type and {key}
        and {filters}
    order by {place} {direction}
    limit $8
) as one
