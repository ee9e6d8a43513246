-- joined: events that several ways lead to, each once.
select e.*
from (
    select way.position from ({ways}) as way order by way.position {direction} limit $8
) as found
join eventlog.events as e on e.position = found.position
