-- compare_changes: every change as text, under its posting and player.
select lpad(posting::text, 10, '0') || '/' || player as key, to_jsonb(c)::text as row
from changes as c
order by posting, player
