-- compare_unscored: every event that waits to be scored as text, under its number; not how often it was tried, and when.
select lpad(number::text, 10, '0') as key, jsonb_build_object('position', position, 'hash', hash)::text as row
from unscored
order by number
