-- Locks open parties that are in no match and older than $1 seconds, up to $2.
select party_id from parties
where open and match_id is null and opened_at <= clock_timestamp() - $1 * interval '1 second'
order by opened_at limit $2 for update skip locked;
