-- Locks the party of a code.
select party_id, open, size, match_id from parties where code = $1 for update;
