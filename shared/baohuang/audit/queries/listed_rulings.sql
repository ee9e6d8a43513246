-- listed_rulings: a page of the list of rulings by player, and of each line whether such a ruling is about that player.
select page.player, page.position, e.stream_id, e.version,
       coalesce(
           e.type in ('HandVoided', 'TableDissolved', 'TurnExtended', 'VoidReversed')
               and page.player in (select about.player from eventlog.players_of(e) as about (player)),
           false
       ) as follows
from (
    select listed.player, listed.position
    from eventlog.rulings_about as listed
    where (listed.player, listed.position) > ($1, $2)
    order by listed.player, listed.position
    limit $3
) as page
left join eventlog.events as e on e.position = page.position
order by page.player, page.position
