-- put_event: one event, at its position.
insert into eventlog.events (position, recorded_at, version, stream_id, type, actor, request_id, data, salt, hash)
values ($1, $2, $3, $4, $5, $6, $7, convert_from($8, 'UTF8')::jsonb, $9, $10)
