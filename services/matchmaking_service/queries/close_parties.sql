-- Closes parties that are locked.
update parties set open = false where party_id = any($1);
