-- way_about: rulings that name seats, by whose seats those were.
select {what}
from eventlog.rulings_about as about
join eventlog.events as e on e.position = about.position
where about.player = $2
    and about.position > (select low from positions) and about.position < (select high from positions)
    and {filters}
order by about.position {direction}
limit $8
