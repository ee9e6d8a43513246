-- reached: the last posting that a consumer has gone past.
select coalesce((select number from checkpoints where consumer = $1), 0) as reached
