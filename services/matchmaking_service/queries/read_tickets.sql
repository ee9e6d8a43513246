-- Tickets with their party, how it waits, and where they were seated.
with asked as materialized (
    select t.ticket_id, t.player, t.state, t.revision, t.reason, t.culprit, p.*
    from tickets t join parties p using (party_id)
    where t.ticket_id = any ($1)
), places as materialized (
    select w.party_id, row_number() over (partition by w.ruleset, w.options order by w.queued_at, w.party_id) as place
    from (
        select distinct ruleset, options from asked
        where state = 'queued' and match_id is null and queued_at is not null
    ) as q
    join parties w on w.ruleset = q.ruleset and w.options = q.options
    where w.open and w.match_id is null and w.queued_at is not null
)
select a.ticket_id, a.party_id, a.player, a.state, a.revision, a.reason, a.culprit,
       a.leader, a.code, a.ruleset, a.options, a.size,
       array(
           select other.player from tickets other
           where other.party_id = a.party_id and (other.state <> 'cancelled' or other.ticket_id = a.ticket_id)
           order by other.player <> a.leader, other.made_at, other.ticket_id
       ) as players,
       case when a.state = 'queued' then coalesce(l.place, 0)::int else 0 end as place,
       coalesce((extract(epoch from clock_timestamp() - a.queued_at) * 1000)::bigint, 0) as waited_ms,
       a.state = 'queued' and a.match_id is not null as match_found,
       m.match_id, m.table_id, m.players as seats
from asked a
left join places l on l.party_id = a.party_id
left join matches m on m.match_id = a.match_id and a.state = 'matched';
