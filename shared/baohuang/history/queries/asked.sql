-- asked: what a page is asked with, and between which positions and versions it is to be found. A minute of room: by how
-- much the order of positions may differ from that of the clock's readings.
with asked as materialized (
    select $1::text as stream_id, $2::text as player, $3::text[] as types, $4::timestamptz as since,
           $5::timestamptz as until, $6::bigint as after, $7::bigint as before, $8::integer as page, $9::text as clause
), positions as materialized (
    select greatest($6, eventlog.position_at($4 - interval '1 minute')) as low,
           least($7, eventlog.position_at($5 + interval '1 minute') + 1) as high
), versions as materialized (
    select eventlog.version_at($1, low) as low, eventlog.version_at($1, high - 1) as high from positions
)
