-- Forms a match, which is its maker's to open for $5 seconds.
insert into matches (match_id, ruleset, options, players, leased_until)
values ($1, $2, $3, $4, clock_timestamp() + $5 * interval '1 second');
