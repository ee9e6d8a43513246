-- set_aside_unsettled: messages still to be settled, in order.
select number, subject, headers, body, error, tried, set_aside_at
from set_aside
where consumer = $1 and settled_as is null
order by number
