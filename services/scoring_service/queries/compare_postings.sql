-- compare_postings: every posting as text, under its number.
select lpad(number::text, 10, '0') as key, to_jsonb(p)::text as row from postings as p order by number
