-- heads_at: a page of streams by id, and where each of them ended at a position (null: it did not exist).
select page.stream_id, e.version, e.hash
from (
    select h.stream_id from eventlog.heads as h where h.stream_id > $1 order by h.stream_id limit $3
) as page
left join lateral (
    select at.version, at.hash
    from eventlog.events as at
    where at.stream_id = page.stream_id and at.position <= $2
    order by at.version desc
    limit 1
) as e on true
order by page.stream_id
