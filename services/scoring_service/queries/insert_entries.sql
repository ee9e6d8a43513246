-- insert_entries: add entries, each with its account's balance after it; accounts are locked in one order.
with added as (
    select number, line, account, points
    from unnest($1::integer[], $2::smallint[], $3::text[], $4::integer[]) as a (number, line, account, points)
), sums as (
    select account, sum(points) as points, count(*) as entries, max(number) as last_number from added group by account
), moved as (
    insert into accounts as a (account, balance, entries, last_number)
    select account, points, entries, last_number from sums order by account
    on conflict on constraint an_account_is_opened_once do update
    set balance = a.balance + excluded.balance,
        entries = a.entries + excluded.entries,
        last_number = greatest(a.last_number, excluded.last_number)
    returning account, balance
)
insert into entries (number, line, account, points, balance)
select number, line, account, added.points,
       moved.balance - sums.points + sum(added.points) over (partition by account order by number, line)
from added
join sums using (account)
join moved using (account)
