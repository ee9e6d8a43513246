-- Dates: what was decided by an old reading of the clock is not stored. This database may have stood still since.

create function eventlog.append_dated(
    commands eventlog.timed_command[], events eventlog.event[], claims eventlog.claim[],
    latest timestamp with time zone[]
)
returns table (
    settled text, version integer, hash bytea, "position" bigint, stream_id text, digest bytea, outcome jsonb,
    refused_by text
)
language plpgsql as $$
#variable_conflict use_column
declare
    late boolean[] := array(
        select coalesce(clock_timestamp() > l.at, false) from unnest(latest) with ordinality as l (at, n) order by l.n
    );
    one  eventlog.timed_command;
begin
    -- A command that is late can be taken for one that is early: either comes after duplicates and conflicts, and
    -- before all that would be written.
    if true = any (late) then
        for n in 1 .. cardinality(commands) loop
            continue when not late[n];
            one := commands[n];
            one.not_before := 'infinity';
            commands[n] := one;
        end loop;
    end if;
    return query
    select case when a.settled = 'early' and late[a.n] then 'late' else a.settled end,
           a.version, a.hash, a.position, a.stream_id, a.digest, a.outcome, a.refused_by
    from eventlog.append_claiming(commands, events, claims) with ordinality as a (
        settled, version, hash, position, stream_id, digest, outcome, refused_by, n
    )
    order by a.n;
end
$$;

comment on function eventlog.append_dated is
    'eventlog.append_claiming, of commands each of which has a latest moment (null: none): past it the command is '
    'settled as late, and nothing of it is written.';

revoke all on function eventlog.append_dated from public;
grant execute on function eventlog.append_dated to baohuang_app;
