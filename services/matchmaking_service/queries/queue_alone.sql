-- queue_alone: make the tickets of those who open parties, as many as nothing stands in the way of, and give them with
-- their places. One statement, so two thirds of the work of make_tickets, which settles the others. Every ticket here is
-- made with its request and its party; a request that came in meanwhile is refused by its constraint, and all with it.
with wanted as materialized (
    select *
    from unnest($1::text[], $2::text[], $3::bytea[], $4::text[], $5::text[], $6::text[], $7::jsonb[], $8::smallint[],
                $9::text[])
        with ordinality as w (caller, request_id, digest, ticket_id, party_id, ruleset, options, size, code, n)
    where pg_try_advisory_xact_lock('tickets'::regclass::oid::integer, hashtext(w.caller))
), queues as materialized (
    select q.ruleset, q.options, waiting_in(q.ruleset, q.options) as waiting
    from (select distinct ruleset, options from wanted where size = 1) as q
), ticket as (
    insert into tickets (ticket_id, party_id, player, place_at_first, players_at_first)
    select w.ticket_id, w.party_id, w.caller,
           case when w.size = 1
                then q.waiting + row_number() over (partition by w.ruleset, w.options, w.size = 1 order by w.n)
                else 0 end,
           array[w.caller]
    from wanted w left join queues q on q.ruleset = w.ruleset and q.options = w.options
    where not exists (select from requests r where r.caller = w.caller and r.request_id = w.request_id)
      and not exists (select from tickets t where t.player = w.caller and t.state = 'queued')
    order by w.n
    on conflict (player) where state = 'queued' do nothing
    returning ticket_id, place_at_first
), request as (
    insert into requests (caller, request_id, digest, ticket_id)
    select w.caller, w.request_id, w.digest, w.ticket_id from wanted w join ticket using (ticket_id)
), party as (
    insert into parties (party_id, code, leader, ruleset, options, size, queued_at)
    select w.party_id, w.code, w.caller, w.ruleset, w.options, w.size, case when w.size = 1 then clock_timestamp() end
    from wanted w join ticket using (ticket_id)
)
select ticket_id, place_at_first from ticket;
