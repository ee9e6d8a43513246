-- Leaves a match to whoever takes it in $3 seconds, if it is still ours.
update matches set leased_until = clock_timestamp() + $3 * interval '1 second'
where match_id = $1 and lease = $2 and state = 'formed';
