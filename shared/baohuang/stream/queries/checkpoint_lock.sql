-- checkpoint_lock: where a consumer is, waiting for whoever moves it on.
select number, alarm from checkpoints where consumer = $1 for update
