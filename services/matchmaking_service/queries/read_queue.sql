-- How long a queue is, and how many of its tickets were set aside or expired of late.
with waiting as (
    select size, queued_at from parties
    where open and match_id is null and queued_at is not null and ruleset = $1 and options = $2
), gone_wrong as (
    select t.state from tickets t join parties p using (party_id)
    where t.state in ('expired', 'set_aside') and t.closed_at > clock_timestamp() - interval '24 hours'
      and p.ruleset = $1 and p.options = $2
)
select coalesce(sum(size), 0)::int as players,
       count(*)::int as parties,
       coalesce((extract(epoch from clock_timestamp() - min(queued_at)) * 1000)::bigint, 0) as longest_wait_ms,
       (select count(*)::int from gone_wrong where state = 'set_aside') as set_aside,
       (select count(*)::int from gone_wrong where state = 'expired') as expired
from waiting;
