-- advance: append a flush that only moves streams on, all of it or nothing: no row says that eventlog.append_dated has to
-- settle it. One statement, so a third of the work. Its reading of the heads is that of the locks it takes: a head that
-- moved meanwhile is compared again (READ COMMITTED), and does not match.
with wanted as materialized (
    select *
    from rows from (unnest($1::eventlog.timed_command[]), unnest($3::timestamptz[])) with ordinality as c (
        stream_id, expected_version, expected_hash, event_count, hash, actor, request_id, digest, recorded_at, outcome,
        summary, due_at, not_before, not_after, n
    )
), locked as materialized (
    select from eventlog.heads as h
    join wanted as c on h.stream_id = c.stream_id
    where h.version = c.expected_version and h.hash = c.expected_hash
        and (c.not_before is null or clock_timestamp() >= c.not_before)
        and (c.not_after is null or clock_timestamp() <= c.not_after)
    for no key update of h skip locked
), ready as materialized (
    select from (select count(*) as heads from locked) as l where l.heads = cardinality($1)
), asked as (
    insert into eventlog.requests (actor, request_id, stream_id, version, digest, outcome)
    select c.actor, c.request_id, c.stream_id, c.expected_version + c.event_count, c.digest, c.outcome
    from ready, wanted as c
    order by c.actor, c.request_id
    returning 1
), moved as (
    update eventlog.heads as h
    set version = c.expected_version + c.event_count, hash = c.hash, summary = coalesce(c.summary, h.summary)
    from ready, wanted as c
    where h.stream_id = c.stream_id
    returning 1
), timed as (
    -- A timer that stays as it is keeps its lease, and costs no write.
    insert into eventlog.timers as t (stream_id, due_at, armed_for_version)
    select c.stream_id, c.due_at, c.expected_version + c.event_count
    from ready, wanted as c
    on conflict on constraint a_stream_has_one_timer do update
    set due_at = excluded.due_at, armed_for_version = excluded.armed_for_version, leased_until = null
    where t.due_at <> excluded.due_at
    returning 1
), before as (
    -- Behind all the others, which it counts: from here to the commit nobody else appends, so little is left to do.
    update eventlog.counter
    set last_position = last_position + new.events
    from ready, (select sum(c.event_count) as events from wanted as c) as new,
        (select count(*) from asked) as a, (select count(*) from moved) as m, (select count(*) from timed) as t
    returning last_position - new.events as position
), written as (
    insert into eventlog.events (position, recorded_at, version, stream_id, type, actor, request_id, data, salt, hash)
    select b.position + e.ordinality, c.recorded_at, e.version, c.stream_id, e.type,
           c.actor, c.request_id, e.data, e.salt, e.hash
    from before as b, unnest($2::eventlog.event[]) with ordinality as e
    join wanted as c on c.n = e.command
)
select position from before
