-- Lets a party wait from now on.
update parties set queued_at = clock_timestamp() where party_id = $1;
