-- The event log: events, the heads of their streams, the requests they answered, and the counter of positions.

create table eventlog.events (
    position    bigint                   not null,
    recorded_at timestamp with time zone not null,
    version     integer                  not null,
    stream_id   text collate "C"         not null,
    type        text collate "C"         not null,
    actor       text collate "C"         not null,
    request_id  text collate "C"         not null,
    data        jsonb                    not null,
    salt        bytea                    not null,
    hash        bytea                    not null,
    constraint a_position_holds_one_event primary key (position),
    constraint a_version_happens_once unique (stream_id, version),
    constraint versions_start_at_1 check (version >= 1),
    constraint an_event_has_a_type check (type <> ''),
    constraint a_salt_has_128_bits check (octet_length(salt) = 16),
    constraint a_hash_has_256_bits check (octet_length(hash) = 32)
);

comment on table eventlog.events is
    'What happened, for ever: rows are added by eventlog.append and never changed, which grants and a trigger both hold.';
comment on column eventlog.events.position is
    '1, 2, 3, … in commit order without holes, so a reader tails by position > last and anyone can check for loss.';
comment on column eventlog.events.version is
    '1, 2, 3, … within the stream; with the head it decides which of two concurrent commands wins.';
comment on column eventlog.events.stream_id is
    'Byte order ("C"), the same on every machine and after every restore.';
comment on column eventlog.events.recorded_at is
    'The command''s reading of this database''s clock, hashed with the event, hence not a default.';
comment on column eventlog.events.data is
    'Canonical proto3 JSON of the event message; what not everybody may know is under "hidden".';
comment on column eventlog.events.salt is
    'Keeps a hidden choice from being guessed from its hash; secret until the hand is over.';
comment on column eventlog.events.hash is
    'SHA-256 over the hash before, the public part and the salted hidden part; computed by the writer, checked by readers.';

create table eventlog.heads (
    stream_id text collate "C" not null,
    version   integer          not null,
    hash      bytea            not null,
    summary   jsonb            not null default '{}',
    constraint a_stream_has_one_head primary key (stream_id),
    constraint a_stream_is_named check (stream_id <> ''),
    constraint a_summary_is_an_object check (jsonb_typeof(summary) = 'object')
) with (fillfactor = 50);

create index heads_by_summary on eventlog.heads using gin (summary jsonb_path_ops);

comment on table eventlog.heads is
    'Where each stream ends: the row an append locks. Half of each page is left free so that updates stay on it.';
comment on column eventlog.heads.summary is
    'A small document for listings, so that they need not fold a log. Changed rarely: it is indexed, and an update that '
    'leaves it alone touches no index.';

create table eventlog.requests (
    actor      text collate "C" not null,
    request_id text collate "C" not null,
    stream_id  text collate "C" not null,
    version    integer          not null,
    digest     bytea            not null,
    outcome    jsonb            not null,
    constraint a_request_is_accepted_once primary key (actor, request_id),
    constraint an_actor_is_named check (actor <> ''),
    constraint a_request_is_named check (request_id <> '')
);

comment on table eventlog.requests is
    'The reply to every accepted command, written with its events, so that the same request gets the same reply.';
comment on column eventlog.requests.version is
    'The version of the last event of the command.';
comment on column eventlog.requests.digest is
    'Digest of the request''s body: the same id with another body is a mistake of the caller.';

create table eventlog.counter (
    last_position bigint  not null,
    only_row      boolean not null default true,
    constraint positions_are_counted_once primary key (only_row),
    constraint there_is_one_counter check (only_row)
) with (fillfactor = 10);

comment on table eventlog.counter is
    'The last position given out. Not a sequence: those are not rolled back and commit out of order, and a reader that '
    'tails one misses events.';

insert into eventlog.counter (last_position) values (0);

-- Append-only, for owners and superusers too.

create function eventlog.refuse_change() returns trigger language plpgsql as $$
begin
    raise exception 'events are append-only: % refused', tg_op
        using errcode = 'integrity_constraint_violation', constraint = 'events_are_append_only', table = tg_table_name, schema = tg_table_schema;
end
$$;

create trigger events_are_append_only before update or delete or truncate on eventlog.events
    for each statement execute function eventlog.refuse_change();

-- What a flush sends.

create type eventlog.command as (
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
    summary          jsonb
);

create type eventlog.event as (
    command integer,
    version integer,
    type    text,
    data    jsonb,
    salt    bytea,
    hash    bytea
);

comment on type eventlog.command is 'One command of a flush; hash is that of its last event.';
comment on type eventlog.event is 'One event of a flush; command is the place, from 1, of its command in the flush.';

create function eventlog.write(
    commands eventlog.command[], events eventlog.event[], versions integer[], chosen boolean[]
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

comment on function eventlog.write is
    'Writes the chosen commands of a flush, their heads being locked at these versions; returns the position before '
    'their first event. Planned with the settings of eventlog.append, which calls it.';

-- Plans are made once a session, from the first flush of perhaps an empty log, and have to serve a full one: generic, and
-- over the indexes.
create function eventlog.append(commands eventlog.command[], events eventlog.event[])
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
               else 'appended'
           end order by c.n)
    into verdicts
    from rows from (unnest(commands), unnest(versions), unnest(hashes)) with ordinality as c (
        stream_id, expected_version, expected_hash, event_count, hash, actor, request_id, digest, recorded_at, outcome,
        summary, found_version, found_hash, n
    )
    left join eventlog.requests as r on r.actor = c.actor and r.request_id = c.request_id;

    chosen := array(select v = 'appended' from unnest(verdicts) with ordinality as v (v, n) order by v.n);
    if true = any (chosen) then
        begin
            before := eventlog.write(commands, events, versions, chosen);
        exception when integrity_constraint_violation then
            -- Somebody broke a constraint. One by one, to refuse him alone; the counter goes back with each refusal.
            for n in 1 .. cardinality(commands) loop
                continue when not chosen[n];
                alone := array_fill(false, array[cardinality(commands)]);
                alone[n] := true;
                begin
                    written := eventlog.write(commands, events, versions, alone);
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
        summary, found_version, found_hash, verdict, n
    )
    left join eventlog.requests as r
        on r.actor = case when c.verdict = 'duplicate' then c.actor end and r.request_id = c.request_id
    order by c.n;
end
$$;

comment on function eventlog.append is
    'Settles a flush: at most one command a stream and a request, in one transaction. Returns a row a command, in their '
    'order: appended (version and hash are those of the head before), conflict, corrupted, duplicate (version, '
    'stream_id, digest, outcome are those stored), refused, or busy, to be sent again.';

-- Who may do what.

revoke all on function eventlog.write, eventlog.append from public;
grant usage on schema eventlog to baohuang_app;
grant select, insert on eventlog.events, eventlog.requests to baohuang_app;
grant select, insert, update on eventlog.heads to baohuang_app;
grant select, update on eventlog.counter to baohuang_app;
grant execute on function eventlog.write, eventlog.append to baohuang_app;
