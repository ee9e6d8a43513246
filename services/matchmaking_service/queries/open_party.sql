-- Opens a party, complete at once if it is for one, and makes its leader's ticket, which gives nothing if he has one.
with party as (
    insert into parties (party_id, code, leader, ruleset, options, size, queued_at)
    values ($1, $2, $3, $4, $5, $6::smallint, case when $6::smallint = 1 then clock_timestamp() end)
    returning party_id, leader
)
insert into tickets (ticket_id, party_id, player) select $7, party_id, leader from party
on conflict (player) where state = 'queued' do nothing
returning true;
