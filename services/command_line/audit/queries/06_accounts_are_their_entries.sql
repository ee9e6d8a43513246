-- Each account is the sum of its entries.
select format('account %s: balance %s of %s entries, and its entries are %s with the sum %s',
              coalesce(a.account, e.account), coalesce(a.balance::text, 'none'), coalesce(a.entries, 0),
              coalesce(e.entries, 0), coalesce(e.points, 0)) as finding
from scoring.accounts as a
full join (
    select account, sum(points) as points, count(*) as entries, max(number) as last_number
    from scoring.entries group by account
) as e on e.account = a.account
where (a.balance, a.entries, a.last_number) is distinct from (e.points, e.entries, e.last_number)
order by coalesce(a.account, e.account)
limit $1
