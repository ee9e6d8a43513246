-- repeated_hand: a stream of one hand, by types and data of its events, so many times over, behind all that is there.
insert into eventlog.events (position, recorded_at, version, stream_id, type, actor, request_id, data, salt, hash)
select last.position + n.version, last.recorded_at + n.version * interval '0.5 seconds', n.version, $1, h.type, 'an', n.version::text,
       h.data::jsonb, decode(repeat('00', 16), 'hex'), decode(repeat('00', 32), 'hex')
from (select e.position, e.recorded_at from eventlog.events as e order by e.position desc limit 1) as last
cross join generate_series(0, $4::integer - 1) as time (number)
cross join unnest($2::text[], $3::text[]) with ordinality as h (type, data, place)
cross join lateral (select (time.number * cardinality($2::text[]) + h.place)::integer as version) as n
order by n.version
