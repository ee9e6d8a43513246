-- current: where one stream ends and what became of one request, each null where there is none.
select h.stream_id as head_stream_id, h.version as head_version, h.hash, h.summary,
       r.stream_id, r.version, r.digest, r.outcome
from (select) as always
left join eventlog.heads as h on h.stream_id = $1
left join eventlog.requests as r on r.actor = $2 and r.request_id = $3
