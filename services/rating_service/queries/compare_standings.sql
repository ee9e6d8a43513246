-- compare_standings: every standing as text, under its player and season.
select player || ' ' || season as key, to_jsonb(s)::text as row
from standings as s
order by (player || ' ' || season) collate "C"
