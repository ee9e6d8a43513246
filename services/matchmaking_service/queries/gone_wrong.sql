-- The tickets of a queue that expired or were set aside within a day, up to $3, the last first.
select t.ticket_id from tickets t join parties p using (party_id)
where t.state in ('expired', 'set_aside') and t.closed_at > clock_timestamp() - interval '24 hours'
  and p.ruleset = $1 and p.options = $2
order by t.closed_at desc, t.ticket_id limit $3;
