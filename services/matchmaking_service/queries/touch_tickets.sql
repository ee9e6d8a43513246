-- Counts a change of a party for those of its tickets that are open.
update tickets set revision = revision + 1 where party_id = $1 and closed_at is null and ticket_id <> $2;
