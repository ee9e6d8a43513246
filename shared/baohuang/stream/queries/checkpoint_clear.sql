-- checkpoint_clear: take a consumer's alarm back.
update checkpoints set alarm = null, alarmed_at = null where consumer = $1
