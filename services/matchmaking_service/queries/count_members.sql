-- How many have joined a party.
select count(*)::int from tickets where party_id = $1 and state = 'queued';
