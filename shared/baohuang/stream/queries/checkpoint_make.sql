-- checkpoint_make: a consumer's first checkpoint, if it has none.
insert into checkpoints (consumer) values ($1) on conflict on constraint a_consumer_has_one_checkpoint do nothing
