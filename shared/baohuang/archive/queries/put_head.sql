-- put_head: where a stream ends, unless it ends further on already.
insert into eventlog.heads as h (stream_id, version, hash, summary)
values ($1, $2, $3, convert_from($4, 'UTF8')::jsonb)
on conflict on constraint a_stream_has_one_head do update
set version = excluded.version, hash = excluded.hash, summary = excluded.summary
where h.version < excluded.version
