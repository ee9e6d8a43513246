-- public_between: the public events of some kinds after one position and up to another, in order.
select position, stream_id, version, type, convert_to(data::text, 'UTF8') as data, actor, recorded_at, null::bytea as hidden_digest, hash
from eventlog_public.events
where position > $1 and position <= $2 and type = any ($3::text[])
order by position
limit $4
