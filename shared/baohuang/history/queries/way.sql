-- way: events, walked to along an index that gives them in order.
select {what}
from eventlog.events as e
where {key}
    and {filters}
order by {place} {direction}
limit $8
