-- compare_entries: every entry as text, under its posting and line.
select lpad(number::text, 10, '0') || '/' || lpad(line::text, 5, '0') as key, to_jsonb(e)::text as row
from entries as e
order by number, line
