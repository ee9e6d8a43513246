-- Opens a party; for one player it is complete at once.
insert into parties (party_id, code, leader, ruleset, options, size, queued_at)
values ($1, $2, $3, $4, $5, $6::smallint, case when $6::smallint = 1 then clock_timestamp() end);
