-- list_heads: heads whose summary contains a document, by descending stream id, before one.
select stream_id, version, hash, summary
from eventlog.heads
where summary @> $1 and ($2::text is null or stream_id < $2)
order by stream_id desc
limit $3
