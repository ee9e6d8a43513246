-- Locks the parties of a match and tells whose they are.
select party_id, refusals from parties where match_id = $1 order by party_id for update;
