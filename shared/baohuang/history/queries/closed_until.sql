-- closed_until: the version of the last finished hand of each of many streams.
select wanted.stream_id, e.version
from unnest($1::text[]) as wanted (stream_id)
cross join lateral (
    select f.version
    from eventlog.events as f
    where f.stream_id = wanted.stream_id and f.type = 'HandFinished' and f.type not in ('CardsPlayed', 'Passed')
    order by f.version desc
    limit 1
) as e
