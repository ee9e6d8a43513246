-- The complete parties that wait, of each queue those up to $1 that wait longest.
with waiting as (
    select party_id, leader, ruleset, options, size, queued_at,
           row_number() over (partition by ruleset, options order by queued_at, party_id) as place
    from parties where open and match_id is null and queued_at is not null
)
select w.party_id, w.size, w.ruleset, w.options,
       case when w.size = 1 then array[w.leader] else members_of(w.party_id, w.leader) end as players,
       extract(epoch from clock_timestamp() - w.queued_at)::float8 as waited
from waiting w where w.place <= $1;
