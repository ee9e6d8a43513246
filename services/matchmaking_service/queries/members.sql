-- Who is in parties.
select p.party_id, members_of(p.party_id, p.leader) as players from parties p where p.party_id = any($1);
