-- ruling_page: a page of rulings as event_page, each with who played the hand, by seat, and what took it back.
{asked}
select e.position, e.stream_id, e.version, e.type, e.data, e.actor, e.request_id, e.recorded_at, e.salt, e.hash,
       hand.players, reversal.version as reversed_by
from (
    select way.position from ({ways}) as way order by way.position {direction} limit $8
) as found
join eventlog.events as e on e.position = found.position
left join lateral (
    select h.data -> 'players' as players
    from eventlog.events as h
    where h.stream_id = e.stream_id and h.type = 'HandStarted' and h.type not in ('CardsPlayed', 'Passed')
        and h.version < e.version
    order by h.version desc
    limit 1
) as hand on true
left join lateral (
    select r.version
    from eventlog.events as r
    where r.stream_id = e.stream_id and r.version > e.version
        and r.type in ('FineReversed', 'VoidReversed') and r.type not in ('CardsPlayed', 'Passed')
        and r.data ->> 'reverses' = e.version::text
    order by r.version
    limit 1
) as reversal on e.type in ('HandVoided', 'PlayerFined')
order by e.position {direction}
