-- players: players' last standings in a season (null: the current one) or before it, their points, how far ratings got.
select asked.season as asked, s.season, s.mu, s.sigma, s.won, s.lost, s.drawn,
       coalesce((select points from players p where p.player = wanted.player), 0) as points,
       coalesce((select number from checkpoints where consumer = $3), 0) as as_of_posting
from unnest($1::text[]) with ordinality as wanted (player, n)
cross join (select coalesce($2, to_char(clock_timestamp() at time zone 'UTC', 'YYYY"Q"Q')) as season) as asked
left join lateral (
    select season, mu, sigma, won, lost, drawn
    from standings
    where player = wanted.player and season <= asked.season
    order by season desc
    limit 1
) as s on true
order by wanted.n
