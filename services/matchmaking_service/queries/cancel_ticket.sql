-- Closes one ticket as cancelled.
update tickets set state = 'cancelled', closed_at = clock_timestamp(), revision = revision + 1 where ticket_id = $1;
