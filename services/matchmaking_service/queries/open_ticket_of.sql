-- The open ticket of a player.
select ticket_id from tickets where player = $1 and state = 'queued';
