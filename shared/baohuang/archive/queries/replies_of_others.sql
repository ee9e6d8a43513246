-- replies_of_others: which of many commands are of another stream, or another command.
select r.actor, r.request_id
from unnest($1::text[], $2::text[], $3::integer[], $4::bytea[]) as wanted (actor, request_id, version, digest)
join eventlog.requests as r on r.actor = wanted.actor and r.request_id = wanted.request_id
where (r.stream_id, r.version, r.digest) is distinct from ($5::text, wanted.version, wanted.digest)
