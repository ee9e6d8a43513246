-- Whose a ticket is, and what became of it.
select player, state from tickets where ticket_id = $1;
