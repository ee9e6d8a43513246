-- Puts parties that are locked into a match.
update parties set match_id = $2 where party_id = any($1);
