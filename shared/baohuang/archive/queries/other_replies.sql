-- other_replies: to which of many commands the log has another reply, and the names of what is another in each.
select
    r.actor,
    r.request_id,
    array_remove(
        array[
            case when r.stream_id <> wanted.stream_id then 'stream' end,
            case when r.version <> wanted.version then 'version' end,
            case when r.digest <> wanted.digest then 'digest' end,
            case when r.outcome <> convert_from(wanted.outcome, 'UTF8')::jsonb then 'outcome' end
        ],
        null
    ) as differing
from unnest($1::text[], $2::text[], $3::text[], $4::integer[], $5::bytea[], $6::bytea[])
    as wanted (actor, request_id, stream_id, version, digest, outcome)
join eventlog.requests as r on r.actor = wanted.actor and r.request_id = wanted.request_id
where
    (r.stream_id, r.version, r.digest, r.outcome)
    <> (wanted.stream_id, wanted.version, wanted.digest, convert_from(wanted.outcome, 'UTF8')::jsonb)
order by r.version
