-- lock_counter: keep everybody from appending until the transaction ends.
select last_position from eventlog.counter for update
