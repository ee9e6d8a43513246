-- Timers: when each stream's next deadline is due, written by the append that sets it and claimed by any replica.

create table eventlog.timers (
    stream_id         text collate "C"         not null,
    due_at            timestamp with time zone not null,
    armed_for_version integer                  not null,
    leased_until      timestamp with time zone,
    constraint a_stream_has_one_timer primary key (stream_id)
) with (fillfactor = 50);

create index timers_by_due_at on eventlog.timers (due_at);

comment on table eventlog.timers is
    'The deadline each stream waits for, set or taken away by every append, so that it outlives the replica that set it.';
comment on column eventlog.timers.due_at is
    'By this database''s clock, the only one that says whether it has passed.';
comment on column eventlog.timers.armed_for_version is
    'The stream''s version when this deadline was set: what was known of the stream then.';
comment on column eventlog.timers.leased_until is
    'Until then a replica sees to it; after that, if it is still here, any may claim it again. Not indexed, so that a '
    'claim touches no index.';

-- The type and functions of 0001 stay, for replicas of the release before: they set no timers, and a timer they leave
-- behind is found not to be due any more.

create type eventlog.timed_command as (
    stream_id        text,
    expected_version integer,
    expected_hash    bytea,
    event_count      integer,
    hash             bytea,
    actor            text,
    request_id       text,
    digest           bytea,
    recorded_at      timestamp with time zone,
    outcome          jsonb,
    summary          jsonb,
    due_at           timestamp with time zone,
    not_before       timestamp with time zone
);

comment on type eventlog.timed_command is
    'One command of a flush; hash is that of its last event, due_at that of the stream''s timer from then on (null: none).';

create function eventlog.write_timed(
    commands eventlog.timed_command[], events eventlog.event[], versions integer[], chosen boolean[]
)
returns bigint language plpgsql as $$
declare
    before bigint;
begin
    insert into eventlog.requests (actor, request_id, stream_id, version, digest, outcome)
    select c.actor, c.request_id, c.stream_id, c.expected_version + c.event_count, c.digest, c.outcome
    from unnest(commands) with ordinality as c
    where chosen[c.ordinality]
    order by c.actor, c.request_id;

    update eventlog.heads as h
    set version = c.expected_version + c.event_count, hash = c.hash, summary = coalesce(c.summary, h.summary)
    from unnest(commands) with ordinality as c
    where chosen[c.ordinality] and c.expected_version > 0 and h.stream_id = c.stream_id;

    if 0 = any (versions) then
        insert into eventlog.heads (stream_id, version, hash, summary)
        select c.stream_id, c.event_count, c.hash, coalesce(c.summary, '{}')
        from unnest(commands) with ordinality as c
        where chosen[c.ordinality] and c.expected_version = 0;
    end if;

    -- A timer that stays as it is keeps its lease, and costs no write.
    insert into eventlog.timers as t (stream_id, due_at, armed_for_version)
    select c.stream_id, c.due_at, c.expected_version + c.event_count
    from unnest(commands) with ordinality as c
    where chosen[c.ordinality] and c.due_at is not null
    on conflict on constraint a_stream_has_one_timer do update
    set due_at = excluded.due_at, armed_for_version = excluded.armed_for_version, leased_until = null
    where t.due_at <> excluded.due_at;

    delete from eventlog.timers as t
    using unnest(commands) with ordinality as c
    where chosen[c.ordinality] and c.due_at is null and t.stream_id = c.stream_id;

    -- From here to the commit nobody else appends, so little is left to do.
    update eventlog.counter
    set last_position = last_position + new.events
    from (
        select sum(c.event_count) as events from unnest(commands) with ordinality as c where chosen[c.ordinality]
    ) as new
    returning last_position - new.events into before;

    insert into eventlog.events (position, recorded_at, version, stream_id, type, actor, request_id, data, salt, hash)
    select before + row_number() over (order by e.ordinality), c.recorded_at, e.version, c.stream_id, e.type,
           c.actor, c.request_id, e.data, e.salt, e.hash
    from unnest(events) with ordinality as e
    join unnest(commands) with ordinality as c on c.ordinality = e.command
    where chosen[e.command];

    return before;
end
$$;

comment on function eventlog.write_timed is
    'Writes the chosen commands of a flush with their timers, their heads being locked at these versions; returns the '
    'position before their first event. Planned with the settings of eventlog.append_timed, which calls it.';

-- Plans are made once a session, from the first flush of perhaps an empty log, and have to serve a full one: generic, and
-- over the indexes.
create function eventlog.append_timed(commands eventlog.timed_command[], events eventlog.event[])
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

    -- Settle them in a statement of its own, which sees whatever was committed before the heads were locked.
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

    chosen := array(select v = 'appended' from unnest(verdicts) with ordinality as v (v, n) order by v.n);
    if true = any (chosen) then
        begin
            before := eventlog.write_timed(commands, events, versions, chosen);
        exception when integrity_constraint_violation then
            -- Somebody broke a constraint. One by one, to refuse him alone; the counter goes back with each refusal.
            for n in 1 .. cardinality(commands) loop
                continue when not chosen[n];
                alone := array_fill(false, array[cardinality(commands)]);
                alone[n] := true;
                begin
                    written := eventlog.write_timed(commands, events, versions, alone);
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

comment on function eventlog.append_timed is
    'Settles a flush: at most one command a stream and a request, in one transaction. Returns a row a command, in their '
    'order: appended (version and hash are those of the head before), conflict, corrupted, early, duplicate (version, '
    'stream_id, digest, outcome are those stored), refused, or busy, to be sent again.';

-- Who may do what.

revoke all on function eventlog.write_timed, eventlog.append_timed from public;
grant select, insert, update, delete on eventlog.timers to baohuang_app;
grant execute on function eventlog.write_timed, eventlog.append_timed to baohuang_app;
