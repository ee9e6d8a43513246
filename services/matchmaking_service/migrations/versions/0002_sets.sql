-- Tickets made, matches formed and tables noted in sets: one call for many of them, each with its own outcome.
--
-- Locks are taken in one order by everybody: players (advisory), parties, requests, tickets; of a kind in the order of
-- their ids. What somebody else holds is not waited for where a call has an outcome for that.

alter table requests add column ticket_id text collate "C";
comment on column requests.ticket_id is
    'The ticket that it made; null if it made none. Its answer is told from the ticket, as that was at first.';

alter table tickets add column place_at_first integer;
alter table tickets add column players_at_first text[] collate "C";
comment on column tickets.place_at_first is
    'The place of its party in the queue when the ticket was made; 0 if it was incomplete.';
comment on column tickets.players_at_first is
    'Who was in its party when the ticket was made, the leader first.';

create type wanted_ticket as (
    caller text, request_id text, digest bytea, ticket_id text,
    party_id text, ruleset text, options jsonb, size smallint, code text
);
comment on type wanted_ticket is
    'A request for a ticket. Without a party_id it is to join the party of the code, with one to open a party under it.';

create function members_of(party text, leader text) returns text[] language sql stable as $$
    select array(
        select t.player from tickets t where t.party_id = party and t.closed_at is null
        order by t.player <> leader, t.made_at, t.ticket_id
    )
$$;
comment on function members_of is
    'Who is in a party, its leader first.';

create function waiting_in(wanted_ruleset text, wanted_options jsonb) returns integer language sql stable as $$
    select count(*)::integer from parties
    where open and match_id is null and queued_at is not null and ruleset = wanted_ruleset and options = wanted_options
$$;
comment on function waiting_in is
    'How many parties wait in a queue.';

create function open_parties(wanted wanted_ticket[], fresh integer[]) returns integer[] language plpgsql as $$
#variable_conflict use_column
declare
    made integer[];
begin
    with asked as materialized (
        select w.* from unnest(wanted) with ordinality
            as w (caller, request_id, digest, ticket_id, party_id, ruleset, options, size, code, n)
        where w.n = any (fresh) and w.party_id is not null
          and not exists (select from tickets t where t.player = w.caller and t.state = 'queued')
    ), queues as materialized (
        select ruleset, options, waiting_in(ruleset, options) as waiting
        from (select distinct ruleset, options from asked where size = 1) as q
    ), ticket as (
        insert into tickets (ticket_id, party_id, player, place_at_first, players_at_first)
        select a.ticket_id, a.party_id, a.caller,
               case when a.size = 1
                    then q.waiting + row_number() over (partition by a.ruleset, a.options, a.size = 1 order by a.n)
                    else 0 end,
               array[a.caller]
        from asked a left join queues q on q.ruleset = a.ruleset and q.options = a.options
        on conflict (player) where state = 'queued' do nothing
        returning party_id
    ), party as (
        insert into parties (party_id, code, leader, ruleset, options, size, queued_at)
        select a.party_id, a.code, a.caller, a.ruleset, a.options, a.size,
               case when a.size = 1 then clock_timestamp() end
        from asked a join ticket using (party_id)
    )
    select array_agg(a.n) into made from asked a join ticket using (party_id);
    return coalesce(made, '{}');
end
$$;
comment on function open_parties is
    'Opens the parties of requests, complete at once if they are for one, and makes their leaders'' tickets. Gives the '
    'numbers of those it did; the players of the others have open tickets.';

create function join_parties(wanted wanted_ticket[], fresh integer[], held text[]) returns integer[]
language plpgsql as $$
#variable_conflict use_column
declare
    made integer[];
begin
    with room as materialized (
        select w.n, w.caller, w.ticket_id, p.party_id, p.ruleset, p.options, p.size, m.members,
               cardinality(m.members) + 1 = p.size as complete
        from unnest(wanted) with ordinality
            as w (caller, request_id, digest, ticket_id, new_party_id, new_ruleset, new_options, new_size, code, n)
        join parties p on p.code = w.code
        cross join lateral (select members_of(p.party_id, p.leader) as members) as m
        where w.n = any (fresh) and w.new_party_id is null and p.party_id = any (held)
          and p.open and p.match_id is null and cardinality(m.members) < p.size
          and not exists (select from tickets t where t.player = w.caller and t.state = 'queued')
    ), ticket as (
        insert into tickets (ticket_id, party_id, player, place_at_first, players_at_first)
        select r.ticket_id, r.party_id, r.caller,
               case when r.complete then 1 + waiting_in(r.ruleset, r.options) else 0 end, r.members || r.caller
        from room r
        on conflict (player) where state = 'queued' do nothing
        returning ticket_id
    ), joined as materialized (
        select r.* from room r join ticket using (ticket_id)
    ), seen_by_others as (
        update tickets t set revision = revision + 1 from joined j where t.party_id = j.party_id and t.closed_at is null
    ), completed as (
        update parties p set queued_at = clock_timestamp() from joined j where p.party_id = j.party_id and j.complete
    )
    select array_agg(j.n) into made from joined j;
    return coalesce(made, '{}');
end
$$;
comment on function join_parties is
    'Makes tickets for those who join parties that are held and have room, one a party. Gives the numbers of those.';

create function make_tickets(wanted wanted_ticket[])
returns table (
    settled text, digest bytea, response bytea, ticket_id text, party_id text, leader text, code text, ruleset text,
    options jsonb, size smallint, players text[], place integer
)
language plpgsql as $$
#variable_conflict use_column
declare
    ours  integer[];
    fresh integer[];
    held  text[] := '{}';
    made  integer[];
begin
    ours := array(
        select n from unnest(wanted) with ordinality as w (caller, a, b, c, d, e, f, g, h, n)
        where pg_try_advisory_xact_lock('tickets'::regclass::oid::integer, hashtext(caller))
    );
    if exists (select from unnest(wanted) where party_id is null) then
        held := array(
            select p.party_id from parties p
            where p.open and p.code in (select w.code from unnest(wanted) as w where w.party_id is null)
            order by p.party_id for update skip locked
        );
    end if;
    with request as (
        insert into requests (caller, request_id, digest, ticket_id)
        select w.caller, w.request_id, w.digest, w.ticket_id
        from unnest(wanted) with ordinality as w (caller, request_id, digest, ticket_id, d, e, f, g, h, n)
        where w.n = any (ours)
        on conflict (caller, request_id) do nothing
        returning ticket_id
    )
    select coalesce(array_agg(w.n), '{}') into fresh
    from request join unnest(wanted) with ordinality as w (a, b, c, ticket_id, d, e, f, g, h, n) using (ticket_id);

    made := open_parties(wanted, fresh);
    if exists (select from unnest(wanted) where party_id is null) then
        made := made || join_parties(wanted, fresh, held);
    end if;
    -- A refusal leaves no trace.
    if cardinality(made) < cardinality(fresh) then
        delete from requests r
        using unnest(wanted) with ordinality as w (caller, request_id, b, c, d, e, f, g, h, n)
        where w.n = any (fresh) and w.n <> all (made) and r.caller = w.caller and r.request_id = w.request_id;
    end if;

    return query
    select case when w.n = any (made) then 'made'
                when w.n <> all (ours) then 'busy'
                when w.n <> all (fresh) then 'duplicate'
                when w.new_party_id is null and joined.party_id is null then 'no party'
                when w.new_party_id is null and joined.party_id <> all (held) then 'busy'
                when queued.ticket_id is not null then 'queued'
                when w.new_party_id is null then 'full'
                else 'busy' end,
           r.digest, r.response, coalesce(t.ticket_id, queued.ticket_id), p.party_id, p.leader, p.code, p.ruleset,
           p.options, coalesce(p.size, joined.size), t.players_at_first, t.place_at_first
    from unnest(wanted) with ordinality
        as w (caller, request_id, new_digest, new_ticket_id, new_party_id, new_ruleset, new_options, new_size, new_code, n)
    left join requests r on r.caller = w.caller and r.request_id = w.request_id
    left join tickets t on t.ticket_id = r.ticket_id
    left join parties p on p.party_id = t.party_id
    left join parties joined on w.new_party_id is null and joined.code = w.new_code and joined.open
    left join tickets queued on queued.player = w.caller and queued.state = 'queued' and w.n <> all (made)
    order by w.n;
end
$$;
comment on function make_tickets is
    'Settles requests for tickets, each on its own and in their order: made, duplicate (made before, under this id), '
    'queued (the player has an open ticket, which is named), no party (of this code), full (its party has all it is for), '
    'busy (something is held by somebody else: to be sent again). At most one a player and one a code. What is not made '
    'leaves no trace.';

create type wanted_match as (match_id text, ruleset text, options jsonb, players text[]);
create type member as (match_id text, party_id text, players text[]);
comment on type wanted_match is
    'A match to form. The players are by seat.';
comment on type member is
    'A party of a match, and who is in it, its leader first.';

create function form_matches(wanted wanted_match[], members member[], lease_seconds float8)
returns table (party_id text)
language plpgsql as $$
#variable_conflict use_column
declare
    held text[] := array(
        select p.party_id from parties p
        where p.party_id = any (array(select m.party_id from unnest(members) as m))
          and p.open and p.match_id is null and p.queued_at is not null
        order by p.party_id for update skip locked
    );
    gone text[];
begin
    gone := array(
        select m.party_id from unnest(members) as m
        left join parties p on p.party_id = m.party_id and p.party_id = any (held)
        where p.party_id is null or members_of(p.party_id, p.leader) <> m.players
    );
    with formed as (
        insert into matches (match_id, ruleset, options, players, leased_until)
        select w.match_id, w.ruleset, w.options, w.players, clock_timestamp() + lease_seconds * interval '1 second'
        from unnest(wanted) as w
        where not exists (select from unnest(members) as m where m.match_id = w.match_id and m.party_id = any (gone))
        returning match_id
    )
    update parties p set match_id = m.match_id
    from unnest(members) as m join formed using (match_id)
    where p.party_id = m.party_id;
    return query select unnest(gone);
end
$$;
comment on function form_matches is
    'Forms those of the matches whose parties all still wait as they were and are held by nobody else; they are their '
    'maker''s to open for the lease. Gives the parties for which that is not so.';

create function note_tables(match_ids text[], table_ids text[]) returns table (party_id text) language plpgsql as $$
#variable_conflict use_column
declare
    formed text[] := array(
        select m.match_id from matches m where m.match_id = any (match_ids) and m.state = 'formed'
        order by m.match_id for update
    );
    seated text[];
begin
    update matches m set state = 'opened', table_id = t.table_id
    from unnest(match_ids, table_ids) as t (match_id, table_id)
    where m.match_id = t.match_id and m.match_id = any (formed);
    with closed as (
        update parties p set open = false where p.match_id = any (formed) returning p.party_id
    )
    select coalesce(array_agg(c.party_id), '{}') into seated from closed c;
    update tickets t set state = 'matched', closed_at = clock_timestamp(), revision = revision + 1
    where t.party_id = any (seated) and t.closed_at is null;
    return query select unnest(seated);
end
$$;
comment on function note_tables is
    'Notes the tables of matches that were formed, and closes their tickets. Gives their parties.';

-- Queues are small and what was done is much; of neither can the planner know how it stands just now. Every look-up here
-- is for few rows by an index, and is planned as that once for all.
do $$
declare
    one text;
    setting text;
begin
    foreach one in array array['make_tickets', 'form_matches', 'note_tables'] loop
        foreach setting in array array['enable_seqscan', 'enable_bitmapscan', 'enable_hashjoin', 'enable_mergejoin',
                                       'enable_material'] loop
            execute format('alter function %I set %s = off', one, setting);
        end loop;
        execute format('alter function %I set plan_cache_mode = force_generic_plan', one);
    end loop;
end
$$;

revoke all on function members_of, waiting_in, open_parties, join_parties, make_tickets, form_matches, note_tables
    from public;
grant execute on function members_of, waiting_in, open_parties, join_parties, make_tickets, form_matches, note_tables
    to baohuang_matchmaking;
grant delete on requests to baohuang_matchmaking;
