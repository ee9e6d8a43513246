-- homeless_streams: the streams without a head that have events in a range of positions.
select distinct e.stream_id
from eventlog.events as e
where e.position > $1 and e.position <= $2
    and not exists (select from eventlog.heads as h where h.stream_id = e.stream_id)
order by e.stream_id
