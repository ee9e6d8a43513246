-- Closes the open tickets of parties.
update tickets set state = $2, closed_at = clock_timestamp(), revision = revision + 1, reason = $3, culprit = $4
where party_id = any($1) and closed_at is null;
