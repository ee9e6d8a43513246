-- Takes matches that were formed and that nobody opens, for $2 seconds.
update matches set leased_until = clock_timestamp() + $2 * interval '1 second', lease = lease + 1
where match_id in (
    select match_id from matches where state = 'formed' and leased_until <= clock_timestamp()
    order by leased_until limit $1 for update skip locked
)
returning match_id, ruleset, options, players, lease;
