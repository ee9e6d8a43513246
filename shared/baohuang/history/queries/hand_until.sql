-- hand_until: a stream's events up to a version, from the beginning of the hand that it is of; from the first one before
-- any hand.
select position, stream_id, version, type, data, actor, request_id,
       least(greatest(recorded_at, '0001-01-01 00:00:00+00'), '9999-12-31 23:59:59.999999+00') as recorded_at, salt, hash
from eventlog.events
where stream_id = $1 and version <= $2 and version >= coalesce((
    select h.version
    from eventlog.events as h
    where h.stream_id = $1 and h.type = 'HandStarted' and h.type not in ('CardsPlayed', 'Passed') and h.version <= $2
    order by h.version desc
    limit 1
), 0)
order by version
