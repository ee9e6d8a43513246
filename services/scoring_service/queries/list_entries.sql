-- list_entries: entries, of an account or all, newest first, before a line.
select e.number, e.line, e.account, e.points, e.balance, p.type, p.table_id, p.hand, p.version, p.happened_at
from entries as e
join postings as p on p.number = e.number
where ($1::text is null or e.account = $1) and (e.number, -e.line) < ($2::integer, -$3::integer)
order by e.number desc, e.line
limit $4
