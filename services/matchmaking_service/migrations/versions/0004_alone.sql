-- Who queues alone is his whole party for as long as that is open, so nobody need be looked up for it.

create or replace function form_matches(wanted wanted_match[], members member[], lease_seconds float8)
returns table (party_id text)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_material = off
as $$
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
        where p.party_id is null or p.size > 1 and members_of(p.party_id, p.leader) <> m.players
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

-- Of a party in a match nobody asks how old it is: that it gets into one is the most frequent change of all.
drop index parties_open;
create index parties_open on parties (opened_at) where open and match_id is null;
