-- No event waits to be scored.
select format('posting %s, position %s, waits since %s: %s', number, position, since, error) as finding
from scoring.unscored
order by number
limit $1
