-- checkpoint_move: note messages that were gone past, the last of them being where the consumer is now.
with gone_past as (
    insert into passed (consumer, number, hash) select $1, * from unnest($2::bigint[], $3::text[])
)
update checkpoints set number = $4 where consumer = $1
