-- All accounts together are zero.
select format('all accounts together are %s', sum(balance)) as finding
from scoring.accounts
having sum(balance) <> 0
limit $1
