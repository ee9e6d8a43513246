-- put_standing: write a player's standing of a season.
insert into standings (player, season, mu, sigma, ordinal, won, lost, drawn)
values ($1, $2, $3, $4, $5, $6, $7, $8)
on conflict on constraint a_player_stands_once_a_season do update
set mu = excluded.mu, sigma = excluded.sigma, ordinal = excluded.ordinal, won = excluded.won, lost = excluded.lost,
    drawn = excluded.drawn
