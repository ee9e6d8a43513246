-- checkpoints_after: the signed checkpoints after a position, in order.
select position, made_at, streams, root, previous, key_id, signature
from eventlog.checkpoints
where position > $1
order by position
limit $2
