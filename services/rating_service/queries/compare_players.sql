-- compare_players: every player's points as text, under his id.
select player as key, to_jsonb(p)::text as row from players as p order by player
