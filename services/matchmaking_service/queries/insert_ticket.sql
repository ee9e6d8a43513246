-- Makes a ticket; gives nothing if the player has an open one, having waited for one that is just being made.
insert into tickets (ticket_id, party_id, player) values ($1, $2, $3)
on conflict (player) where state = 'queued' do nothing
returning true;
