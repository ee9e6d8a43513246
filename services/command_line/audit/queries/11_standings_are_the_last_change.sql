-- Each standing is what the last hand of its season left.
select format('%s in %s: (%s, %s) after %s hands, and the last change left (%s, %s) after %s',
              coalesce(s.player, c.player), coalesce(s.season, c.season), s.mu, s.sigma, s.won + s.lost + s.drawn,
              c.mu_after, c.sigma_after, c.hands) as finding
from rating.standings as s
full join (
    select distinct on (player, season) player, season, mu_after, sigma_after,
           count(*) over (partition by player, season) as hands
    from rating.changes
    where season is not null
    order by player, season, posting desc
) as c on c.player = s.player and c.season = s.season
where (s.mu, s.sigma, (s.won + s.lost + s.drawn)::bigint) is distinct from (c.mu_after, c.sigma_after, c.hands)
order by finding
limit $1
