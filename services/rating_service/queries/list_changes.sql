-- list_changes: what rated a player, in a season or ever, newest first, before a posting.
select posting, player, points, season, table_id, hand, happened_at, result, mu_before, sigma_before, mu_after,
       sigma_after
from changes
where player = $1 and posting < $2 and season is not null and ($3::text is null or season = $3)
order by posting desc
limit $4
