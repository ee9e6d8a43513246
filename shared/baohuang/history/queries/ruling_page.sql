-- ruling_page: a page of rulings as event_page, each with who played the hand, by seat, if it names seats, and the version
-- of what took it back.
{asked}
select e.position, e.stream_id, e.version, e.type, e.data, e.actor, e.request_id,
       least(greatest(e.recorded_at, '0001-01-01 00:00:00+00'), '9999-12-31 23:59:59.999999+00') as recorded_at,
       e.salt, e.hash,
       hand.players, reversal.version as reversed_by
from ({found}) as e
left join lateral (
    select h.data -> 'players' as players
    from eventlog.events as h
    where e.type in ('HandVoided', 'TableDissolved', 'TurnExtended') and h.stream_id = e.stream_id
        and h.type = 'HandStarted' and h.type not in ('CardsPlayed', 'Passed') and h.version < e.version
    order by h.version desc
    limit 1
) as hand on true
left join lateral (
    select r.version
    from eventlog.events as r
    where e.type in ('HandVoided', 'PlayerFined') and r.stream_id = e.stream_id
        and r.type = case e.type when 'PlayerFined' then 'FineReversed' else 'VoidReversed' end
        and r.type not in ('CardsPlayed', 'Passed')
        and r.version > e.version and r.data ->> 'reverses' = e.version::text
    order by r.version
    limit 1
) as reversal on true
order by e.position {direction}
limit $8
