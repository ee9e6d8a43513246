-- Counts a change of parties for their open tickets.
update tickets set revision = revision + 1 where party_id = any($1) and closed_at is null;
