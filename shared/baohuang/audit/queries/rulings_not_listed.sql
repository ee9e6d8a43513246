-- rulings_not_listed: rulings of a range of positions that name seats or five players, with whom they are about and are
-- not listed for; some of them.
select e.stream_id, e.version, about.player
from eventlog.events as e
cross join lateral eventlog.players_of(e) as about (player)
where e.position > $1 and e.position <= $2
    and e.type in ('HandVoided', 'TableDissolved', 'TurnExtended', 'VoidReversed')
    and not exists (
        select from eventlog.rulings_about as listed
        where listed.player = about.player and listed.position = e.position
    )
order by e.position, about.player
limit $3
