-- Every event of the log that points follow from, as far as the ledger has got, is posted or waits, and is the same.
select format('position %s, %s of %s version %s: %s', e.position, e.type, e.stream_id, e.version,
              case when p.number is null and u.number is null then 'is not in the ledger'
                   else 'is another event than the one in the ledger' end) as finding
from eventlog_public.events as e
left join scoring.postings as p on p.position = e.position
left join scoring.unscored as u on u.position = e.position
where e.type in ('HandFinished', 'PlayerFined', 'FineReversed', 'VoidReversed')
  and e.position <= (select last_position from scoring.progress)
  and encode(e.hash, 'hex') is distinct from coalesce(p.hash, u.hash)
order by e.position
limit $1
