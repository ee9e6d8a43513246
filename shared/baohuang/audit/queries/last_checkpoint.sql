-- last_checkpoint: the newest checkpoint.
select position, made_at, streams, root, previous, key_id, signature
from eventlog.checkpoints
order by position desc
limit 1
