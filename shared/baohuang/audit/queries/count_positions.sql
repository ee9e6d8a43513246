-- count_positions: how many events stand in a range of positions, and how many of them are of a stream without a head.
select count(*) as events, count(*) filter (where h.stream_id is null) as homeless
from eventlog.events as e
left join eventlog.heads as h on h.stream_id = e.stream_id
where e.position > $1 and e.position <= $2
