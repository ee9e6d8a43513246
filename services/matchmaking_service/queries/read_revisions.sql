-- How often tickets have changed.
select ticket_id, revision from tickets where ticket_id = any($1);
