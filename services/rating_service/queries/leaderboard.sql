-- leaderboard: standings of a season, best first, after a place or from the first on, and how many are before these.
with page as (
    select player, season, mu, sigma, ordinal, won, lost, drawn
    from standings
    where season = $1 and ($2::double precision is null or ordinal < $2 or (ordinal = $2 and player > $3))
    order by ordinal desc, player
    limit $4
), first as (
    select ordinal, player from page order by ordinal desc, player limit 1
), others as (
    select count(*) filter (where s.ordinal > first.ordinal) as better, count(*) as before
    from first
    join standings as s
        on s.season = $1 and (s.ordinal > first.ordinal or (s.ordinal = first.ordinal and s.player < first.player))
)
select page.player, page.season, page.mu, page.sigma, page.won, page.lost, page.drawn, others.better, others.before
from page, others
order by page.ordinal desc, page.player
