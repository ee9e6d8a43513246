-- long_log: one copy of the recorded tables, all played at the same time by five of many players, behind what is there.
-- Appended in the order of their time but for a few seconds.
insert into eventlog.events (position, recorded_at, version, stream_id, type, actor, request_id, data, salt, hash)
select p.position,
       timestamptz '2026-01-01' + p.position * interval '0.5 seconds' - p.position * 7919 % 13 * interval '1 second',
       r.version, r.stream_id || '/' || $1, r.type,
       case when r.actor ~ '^(an|bo|cai|du|en)$' then r.actor || '-' || $2 else r.actor end, r.request_id || '/' || $1,
       case when r.names_players then
           regexp_replace(r.data::text, '"(an|bo|cai|du|en)"', '"\1-' || $2 || '"', 'g')::jsonb
       else r.data end,
       r.salt, r.hash
from recorded as r
cross join lateral (select $3::bigint + r.place as position) as p
order by r.place
