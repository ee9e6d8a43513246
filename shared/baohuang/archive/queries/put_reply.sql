-- put_reply: what a command was answered, unless that is there already.
insert into eventlog.requests (actor, request_id, stream_id, version, digest, outcome)
values ($1, $2, $3, $4, $5, convert_from($6, 'UTF8')::jsonb)
on conflict on constraint a_request_is_accepted_once do nothing
