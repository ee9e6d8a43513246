-- Locks the party of a ticket.
select party_id, open, leader, match_id from parties
where party_id = (select party_id from tickets where ticket_id = $1) for update;
