-- Claims: names that one stream at a time holds, whoever is racing for them: taken and given up by appends.

create table eventlog.claims (
    name      text collate "C" not null,
    stream_id text collate "C" not null,
    constraint a_name_is_claimed_once primary key (name),
    constraint a_claim_is_named check (name <> '')
);

comment on table eventlog.claims is
    'Which stream holds which name, written by the appends that take and give up names. A rule across streams, such as '
    'that a player is in one unfinished hand, is a name that only one of them can hold.';
comment on column eventlog.claims.name is
    'What is claimed; the log does not know what it means. Byte order ("C"), as everywhere.';
comment on column eventlog.claims.stream_id is
    'The stream that holds the name until it gives it up: only an append to it does.';

-- The append of 0002 stays, for replicas of the release before: they claim nothing. That of 0001 is nobody's any more.

drop function eventlog.append, eventlog.write;
drop type eventlog.command;

create type eventlog.claim_use as enum ('released', 'claimed', 'unclaimed');

create type eventlog.claim as (
    command integer,
    name    text,
    use     eventlog.claim_use
);

comment on type eventlog.claim is
    'What a command of a flush does with a name; command is its place, from 1, in the flush. Released: its stream gives '
    'the name up; claimed: it holds the name from then on; unclaimed: no other stream may hold it.';

create function eventlog.breaches_of_claims(commands eventlog.timed_command[], claims eventlog.claim[])
returns table (command integer, rule text)
language sql stable as $$
    select distinct on (c.command) c.command, case
               when c.name = '' then 'a_claim_is_named'
               when c.use = 'claimed' then 'a_name_is_claimed_once'
               else 'a_name_is_unclaimed'
           end
    from unnest(claims) as c
    join unnest(commands) with ordinality as o on o.ordinality = c.command
    left join eventlog.claims as held on held.name = c.name
    where c.name = '' or (
        c.use <> 'released'
        and held.stream_id <> o.stream_id
        and not exists (select from unnest(claims) as given_up where given_up.use = 'released' and given_up.name = c.name)
    )
    order by c.command, c.name <> '', c.use
$$;

comment on function eventlog.breaches_of_claims is
    'Which commands break which rule of names whatever becomes of the rest of their flush, all names being locked.';

create function eventlog.write_claims(place integer, stream text, claims eventlog.claim[])
returns void language plpgsql as $$
begin
    delete from eventlog.claims as held
    using unnest(claims) as c
    where c.command = place and c.use = 'released' and held.name = c.name and held.stream_id = stream;

    insert into eventlog.claims (name, stream_id)
    select distinct c.name, stream
    from unnest(claims) as c
    where c.command = place and c.use = 'claimed'
        and not exists (select from eventlog.claims as held where held.name = c.name and held.stream_id = stream);

    if exists (
        select from unnest(claims) as c
        join eventlog.claims as held on held.name = c.name
        where c.command = place and c.use = 'unclaimed' and held.stream_id <> stream
    ) then
        raise exception 'a name that was to be unclaimed is claimed'
            using errcode = 'integrity_constraint_violation', constraint = 'a_name_is_unclaimed',
                  table = 'claims', schema = 'eventlog';
    end if;
end
$$;

comment on function eventlog.write_claims is
    'Gives up and takes the names of one command of a flush, by its place and stream, and checks those to be unclaimed.';

create function eventlog.write_claiming(
    commands eventlog.timed_command[], events eventlog.event[], claims eventlog.claim[], versions integer[],
    chosen boolean[]
)
returns bigint language plpgsql as $$
declare
    claiming record;
begin
    -- One command after the other, so that what a flush does is what its commands would do in the order of their
    -- positions.
    if cardinality(claims) > 0 then
        for claiming in
            select o.ordinality::integer as place, o.stream_id from unnest(commands) with ordinality as o
            where chosen[o.ordinality]
                and exists (select from unnest(claims) as c where c.command = o.ordinality)
            order by o.ordinality
        loop
            perform eventlog.write_claims(claiming.place, claiming.stream_id, claims);
        end loop;
    end if;
    return eventlog.write_timed(commands, events, versions, chosen);
end
$$;

comment on function eventlog.write_claiming is
    'Writes the chosen commands of a flush with their claims, their heads and names being locked; returns the position '
    'before their first event. Planned with the settings of eventlog.append_claiming, which calls it.';

-- Plans are made once a session, from the first flush of perhaps an empty log, and have to serve a full one: generic, and
-- over the indexes.
create function eventlog.append_claiming(
    commands eventlog.timed_command[], events eventlog.event[], claims eventlog.claim[]
)
returns table (
    settled text, version integer, hash bytea, "position" bigint, stream_id text, digest bytea, outcome jsonb,
    refused_by text
)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
    no_hash  constant bytea := decode(repeat('00', 32), 'hex');
    versions integer[];
    hashes   bytea[];
    verdicts text[];
    breaches text[];
    chosen   boolean[];
    alone    boolean[];
    before   bigint;
    written  bigint;
    breach   text;
    wanted   record;
begin
    -- Lock the heads in one order, skipping those somebody else holds (version null). A stream that does not exist
    -- has no row to lock; its name is locked instead, or two replicas creating it would wait for each other.
    select array_agg(coalesce(h.version, case
               when exists (select from eventlog.heads as busy where busy.stream_id = c.stream_id) then null
               when pg_try_advisory_xact_lock('eventlog.heads'::regclass::oid::integer, hashtext(c.stream_id)) then 0
           end) order by c.ordinality),
           array_agg(coalesce(h.hash, no_hash) order by c.ordinality)
    into versions, hashes
    from unnest(commands) with ordinality as c
    left join (
        select locked.stream_id, locked.version, locked.hash
        from eventlog.heads as locked
        where locked.stream_id = any (array(select wanted.stream_id from unnest(commands) as wanted))
        order by locked.stream_id
        for no key update skip locked
    ) as h on h.stream_id = c.stream_id;

    -- Lock their names, held by anybody or not, in one order and without waiting either. A command that does not get
    -- one of its names tries no more of them, so of flushes that want the same names one gets all of its own.
    if cardinality(claims) > 0 then
        for wanted in
            select c.command, hashtext(c.name) as key from unnest(claims) as c order by 2, 1
        loop
            if versions[wanted.command] is not null
                and not pg_try_advisory_xact_lock('eventlog.claims'::regclass::oid::integer, wanted.key)
            then
                versions[wanted.command] := null;
            end if;
        end loop;
    end if;

    -- Settle them in a statement of its own, which sees whatever was committed before heads and names were locked.
    select array_agg(case
               when r.version is not null then 'duplicate'
               when c.found_version is null then 'busy'
               when c.found_version <> c.expected_version then 'conflict'
               when c.found_hash <> c.expected_hash then 'corrupted'
               when clock_timestamp() < c.not_before then 'early'
               else 'appended'
           end order by c.n)
    into verdicts
    from rows from (unnest(commands), unnest(versions), unnest(hashes)) with ordinality as c (
        stream_id, expected_version, expected_hash, event_count, hash, actor, request_id, digest, recorded_at, outcome,
        summary, due_at, not_before, found_version, found_hash, n
    )
    left join eventlog.requests as r on r.actor = c.actor and r.request_id = c.request_id;

    -- Most that break a rule of names do so whatever else is in the flush; refused here, they cost the others nothing.
    if cardinality(claims) > 0 then
        for wanted in select b.command, b.rule from eventlog.breaches_of_claims(commands, claims) as b loop
            if verdicts[wanted.command] = 'appended' then
                verdicts[wanted.command] := 'refused';
                breaches[wanted.command] := wanted.rule;
            end if;
        end loop;
    end if;

    chosen := array(select v = 'appended' from unnest(verdicts) with ordinality as v (v, n) order by v.n);
    if true = any (chosen) then
        begin
            before := eventlog.write_claiming(commands, events, claims, versions, chosen);
        exception when integrity_constraint_violation then
            -- Somebody broke a constraint. One by one, to refuse him alone; the counter goes back with each refusal.
            for n in 1 .. cardinality(commands) loop
                continue when not chosen[n];
                alone := array_fill(false, array[cardinality(commands)]);
                alone[n] := true;
                begin
                    written := eventlog.write_claiming(commands, events, claims, versions, alone);
                    before := coalesce(before, written);
                exception when integrity_constraint_violation then
                    get stacked diagnostics breach = constraint_name;
                    breaches[n] := breach;
                    chosen[n] := false;
                    -- These two say that another replica was faster; sent again, the command learns what it did.
                    verdicts[n] := case
                        when breach in ('a_request_is_accepted_once', 'a_stream_has_one_head') then 'busy'
                        else 'refused'
                    end;
                end;
            end loop;
        end;
    end if;

    return query
    select c.verdict,
           coalesce(r.version, c.found_version),
           c.found_hash,
           before + sum(c.event_count) filter (where c.verdict = 'appended') over (order by c.n),
           r.stream_id, r.digest, r.outcome, breaches[c.n]
    from rows from (unnest(commands), unnest(versions), unnest(hashes), unnest(verdicts)) with ordinality as c (
        stream_id, expected_version, expected_hash, event_count, hash, actor, request_id, digest, recorded_at, outcome,
        summary, due_at, not_before, found_version, found_hash, verdict, n
    )
    left join eventlog.requests as r
        on r.actor = case when c.verdict = 'duplicate' then c.actor end and r.request_id = c.request_id
    order by c.n;
end
$$;

comment on function eventlog.append_claiming is
    'Settles a flush: at most one command a stream and a request, in one transaction. Returns a row a command, in their '
    'order: appended (version and hash are those of the head before), conflict, corrupted, early, duplicate (version, '
    'stream_id, digest, outcome are those stored), refused, or busy, to be sent again. Claims are settled in the order '
    'of the commands, so one that gives a name up goes before the one that takes it.';

create or replace function eventlog.append_timed(commands eventlog.timed_command[], events eventlog.event[])
returns table (
    settled text, version integer, hash bytea, "position" bigint, stream_id text, digest bytea, outcome jsonb,
    refused_by text
)
language sql as $$
    select settled, version, hash, position, stream_id, digest, outcome, refused_by
    from eventlog.append_claiming(commands, events, '{}')
$$;

comment on function eventlog.append_timed is
    'eventlog.append_claiming of a flush without claims, as the release before sends it.';

-- Who may do what.

revoke all on function
    eventlog.append_claiming, eventlog.write_claiming, eventlog.write_claims, eventlog.breaches_of_claims from public;
grant select, insert, delete on eventlog.claims to baohuang_app;
grant execute on function
    eventlog.append_claiming, eventlog.write_claiming, eventlog.write_claims, eventlog.breaches_of_claims to baohuang_app;
