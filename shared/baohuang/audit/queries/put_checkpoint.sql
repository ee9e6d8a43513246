-- put_checkpoint: keep a signed checkpoint.
insert into eventlog.checkpoints (position, made_at, streams, root, previous, key_id, signature)
values ($1, $2, $3, $4, $5, $6, $7)
