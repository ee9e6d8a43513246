-- What is taken back was booked before: a fine of the same player and points, a hand that was void; each once.
select format('posting %s takes version %s of %s back, and %s', p.number, p.data ->> 'reverses', p.table_id,
              case when o.number is null then 'the ledger has no such posting before it' else 'another does so, too' end)
       as finding
from (
    select *, row_number() over (partition by table_id, data ->> 'reverses' order by number) as time
    from scoring.postings
    where data ? 'reverses'
) as p
left join scoring.postings as o
    on o.table_id = p.table_id and o.number < p.number
    and (
        (p.type = 'FineReturned' and o.type = 'FinePosted' and o.version::text = p.data ->> 'reverses'
         and o.data ->> 'player' = p.data ->> 'player'
         and (o.data ->> 'points')::integer = -(p.data ->> 'points')::integer)
        or (p.type = 'HandScored' and o.type = 'HandScored' and o.hand = p.hand and o.data ? 'void')
    )
where o.number is null or p.time > 1
order by p.number
limit $1
