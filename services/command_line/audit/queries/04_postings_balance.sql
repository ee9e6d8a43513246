-- The entries of each posting sum to zero.
select format('posting %s: its entries sum to %s', number, sum(points)) as finding
from scoring.entries
group by number
having sum(points) <> 0
order by number
limit $1
