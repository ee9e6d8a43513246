-- checkpoint_alarm: stop a consumer, saying why.
update checkpoints set alarm = $2, alarmed_at = clock_timestamp() where consumer = $1
