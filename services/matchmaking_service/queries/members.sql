-- Who is in parties.
select p.party_id,
       array(
           select t.player from tickets t where t.party_id = p.party_id and t.state = 'queued'
           order by t.player <> p.leader, t.made_at, t.ticket_id
       ) as players
from parties p where p.party_id = any($1);
