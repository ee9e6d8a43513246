-- Numbers are 1, 2, 3, … in the order of the log.
select format('number %s at position %s is the event number %s of the log', number, position, place) as finding
from (
    select number, position, row_number() over (order by position) as place
    from (select number, position from scoring.postings union all select number, position from scoring.unscored) as given
) as numbered
where number <> place
order by number
limit $1
