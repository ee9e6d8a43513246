-- Dissolves a match that is still ours; gives nothing if it is not.
update matches set state = 'dissolved', refused_with = $3
where match_id = $1 and lease = $2 and state = 'formed' and leased_until > clock_timestamp()
returning true;
