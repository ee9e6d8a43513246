-- Tickets with their party, how it waits, and where they were seated.
select t.ticket_id, t.player, t.state, t.revision, t.reason, t.culprit,
       p.leader, p.code, p.ruleset, p.options, p.size,
       array(
           select other.player from tickets other
           where other.party_id = p.party_id and (other.state <> 'cancelled' or other.ticket_id = t.ticket_id)
           order by other.player <> p.leader, other.made_at, other.ticket_id
       ) as players,
       case when t.state = 'queued' and p.match_id is null and p.queued_at is not null then (
           select count(*)::int from parties before
           where before.open and before.match_id is null and before.queued_at is not null
             and before.ruleset = p.ruleset and before.options = p.options
             and (before.queued_at, before.party_id) <= (p.queued_at, p.party_id)
       ) else 0 end as place,
       coalesce((extract(epoch from clock_timestamp() - p.queued_at) * 1000)::bigint, 0) as waited_ms,
       m.match_id, m.table_id, m.players as seats
from tickets t
join parties p using (party_id)
left join matches m on m.match_id = p.match_id and t.state = 'matched'
where t.ticket_id = any($1);
