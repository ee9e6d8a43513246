-- Locks those of some parties that still wait and that nobody else has locked.
select party_id from parties
where party_id = any($1) and open and match_id is null and queued_at is not null
order by party_id for update skip locked;
