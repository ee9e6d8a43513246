-- postings_after: postings after a number, in order, up to the first that still waits.
select number, table_id, type, data
from (
    select number, table_id, type, data, row_number() over (order by number) as place
    from postings
    where number > $1
    order by number
    limit $2
) as next
where number = $1 + place
order by number
