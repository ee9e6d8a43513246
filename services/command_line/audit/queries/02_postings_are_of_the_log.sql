-- Every posting is of an event of the log.
select format('posting %s: the log has no such event at position %s', p.number, p.position) as finding
from scoring.postings as p
left join eventlog_public.events as e
    on e.position = p.position and e.type in ('HandFinished', 'PlayerFined', 'FineReversed', 'VoidReversed')
    and e.stream_id = p.table_id and e.version = p.version
where e.position is null
order by p.number
limit $1
