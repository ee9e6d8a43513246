-- Each entry tells its account's balance after it.
select format('posting %s, %s: balance %s, and the entries add up to %s', number, account, balance, added) as finding
from (
    select number, account, balance, sum(points) over (partition by account order by number, line) as added
    from scoring.entries
) as summed
where balance <> added
order by number, account
limit $1
