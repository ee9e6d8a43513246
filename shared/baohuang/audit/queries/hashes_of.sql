-- hashes_of: the hashes of many events, and where their streams end by the events (null: there is no such event).
select wanted.stream_id, wanted.version, e.hash, (
    select last.version
    from eventlog.events as last
    where last.stream_id = wanted.stream_id
    order by last.version desc
    limit 1
) as ends_at
from unnest($1::text[], $2::integer[]) as wanted (stream_id, version)
left join eventlog.events as e on e.stream_id = wanted.stream_id and e.version = wanted.version
