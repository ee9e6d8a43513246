-- As far as ratings have got, each player's entries are what changed his points.
select format('posting %s, %s: %s in the ledger, %s in ratings', coalesce(e.number, c.posting),
              coalesce(e.player, c.player), coalesce(e.points::text, 'nothing'), coalesce(c.points::text, 'nothing'))
       as finding
from (
    select number, substr(account, 8) as player, points
    from scoring.entries
    where account like 'player:%'
      and number <= (select coalesce(max(number), 0) from rating.checkpoints where consumer = 'rating')
      and number not in (select number from rating.set_aside where consumer = 'rating' and settled_as = 'skipped')
) as e
full join rating.changes as c on c.posting = e.number and c.player = e.player
where e.points is distinct from c.points
order by coalesce(e.number, c.posting), coalesce(e.player, c.player)
limit $1
