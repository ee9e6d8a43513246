-- events_there: which of many events the log has by stream and version, and the names of what is another in each.
select
    e.version,
    array_remove(
        array[
            case when e.position <> wanted.position then 'position' end,
            case when e.recorded_at <> wanted.recorded_at then 'recordedAt' end,
            case when e.type <> wanted.type then 'type' end,
            case when e.actor <> wanted.actor then 'actor' end,
            case when e.request_id <> wanted.request_id then 'requestId' end,
            case when e.data <> convert_from(wanted.data, 'UTF8')::jsonb then 'data' end,
            case when e.salt <> wanted.salt then 'salt' end,
            case when e.hash <> wanted.hash then 'hash' end
        ],
        null
    ) as differing
from unnest(
    $1::bigint[], $2::timestamptz[], $3::integer[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bytea[],
    $9::bytea[], $10::bytea[]
) as wanted (position, recorded_at, version, stream_id, type, actor, request_id, data, salt, hash)
join eventlog.events as e on e.stream_id = wanted.stream_id and e.version = wanted.version
order by e.version
