-- Lets parties that are locked wait on, as if there had been no match.
update parties set match_id = null, refusals = refusals + $2 where party_id = any($1);
