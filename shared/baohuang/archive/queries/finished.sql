-- finished: a page of the tables by id that are closed or dissolved and had their last event before a moment.
select h.stream_id
from eventlog.heads as h
join eventlog.events as e on e.stream_id = h.stream_id and e.version = h.version
where h.stream_id > $1
    and (
        h.summary @> '{"status": "TABLE_STATUS_CLOSED"}' or h.summary @> '{"status": "TABLE_STATUS_DISSOLVED"}'
    )
    and e.recorded_at < $2
order by h.stream_id
limit $3
