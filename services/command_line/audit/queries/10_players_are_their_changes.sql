-- Each player's points are the sum of what changed them, and each change tells the sum after it.
select format('player %s: %s points, and what changed them adds up to %s', coalesce(p.player, c.player),
              coalesce(p.points::text, 'no'), coalesce(c.points, 0)) as finding
from rating.players as p
full join (select player, sum(points) as points from rating.changes group by player) as c on c.player = p.player
where p.points is distinct from c.points
union all
select format('posting %s, %s: total %s, and the changes add up to %s', posting, player, total, added)
from (
    select posting, player, total, sum(points) over (partition by player order by posting) as added
    from rating.changes
) as summed
where total <> added
order by finding
limit $1
