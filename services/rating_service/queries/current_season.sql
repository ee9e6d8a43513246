-- current_season: the season by this database's clock.
select to_char(clock_timestamp() at time zone 'UTC', 'YYYY"Q"Q') as season
