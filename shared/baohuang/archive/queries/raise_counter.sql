-- raise_counter: go on counting behind a position.
update eventlog.counter set last_position = greatest(last_position, $1)
