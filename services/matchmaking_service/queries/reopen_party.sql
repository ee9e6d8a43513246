-- Lets a party gather again.
update parties set queued_at = null where party_id = $1;
