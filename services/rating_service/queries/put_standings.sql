-- put_standings: write standings, each of another player or season, in one order.
insert into standings (player, season, mu, sigma, ordinal, won, lost, drawn)
select *
from unnest(
    $1::text[], $2::text[], $3::double precision[], $4::double precision[], $5::double precision[], $6::integer[],
    $7::integer[], $8::integer[]
) as s (player, season, mu, sigma, ordinal, won, lost, drawn)
order by player, season
on conflict on constraint a_player_stands_once_a_season do update
set mu = excluded.mu, sigma = excluded.sigma, ordinal = excluded.ordinal, won = excluded.won, lost = excluded.lost,
    drawn = excluded.drawn
