-- Forms matches of parties that still wait, and tells which do not.
select party_id from form_matches($1, $2, $3);
