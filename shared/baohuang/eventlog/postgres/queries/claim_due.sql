-- claim_due: lease timers that are due and nobody's, the longest due first; those being claimed or replaced are skipped.
with due as materialized (
    select stream_id
    from eventlog.timers
    where due_at <= statement_timestamp() and (leased_until is null or leased_until <= statement_timestamp())
    order by due_at, stream_id
    limit $1
    for update skip locked
), claimed as (
    update eventlog.timers as t
    set leased_until = statement_timestamp() + make_interval(secs => $2)
    from due
    where t.stream_id = due.stream_id
    returning t.stream_id, t.armed_for_version, t.due_at
)
select stream_id, armed_for_version, due_at from claimed order by due_at, stream_id
