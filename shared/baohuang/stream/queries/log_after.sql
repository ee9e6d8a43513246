-- log_after: the log's events after a position, each of the kinds $3 with the position of the last such one before it.
select e.position, e.stream_id, e.version, e.type, e.data, e.actor, e.request_id, e.recorded_at, e.salt, e.hash,
       case when e.type = any ($3::text[]) then coalesce((
           select before.position
           from eventlog.events as before
           where before.position < e.position and before.type = any ($3::text[])
           order by before.position desc
           limit 1
       ), 0) end as preceded_by
from eventlog.events as e
where e.position > $1
order by e.position
limit $2
