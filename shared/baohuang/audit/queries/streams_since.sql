-- streams_since: a page of streams by id, and which of them had an event since a moment, by their last one.
select page.stream_id, coalesce(e.recorded_at >= $2, true) as moved
from (
    select h.stream_id, h.version from eventlog.heads as h where h.stream_id > $1 order by h.stream_id limit $3
) as page
left join eventlog.events as e on e.stream_id = page.stream_id and e.version = page.version
order by page.stream_id
