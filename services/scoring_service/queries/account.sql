-- account: one account.
select balance, entries, last_number from accounts where account = $1
