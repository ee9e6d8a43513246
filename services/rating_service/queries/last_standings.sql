-- last_standings: the last standing of each of some players in a season or before it.
select distinct on (player) player, season, mu, sigma, won, lost, drawn
from standings
where player = any ($1::text[]) and season <= $2
order by player, season desc
