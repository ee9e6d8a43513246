-- What was done is kept for a while, then purged; what went wrong of late is counted and listed.

create index requests_by_age on requests (made_at);
create index parties_closed on parties (opened_at) where not open;
create index matches_done on matches (formed_at) where state <> 'formed';
create index tickets_gone_wrong on tickets (closed_at) where state in ('expired', 'set_aside');
drop index tickets_set_aside;

create function purge(keep_seconds float8, most integer) returns integer language plpgsql as $$
#variable_conflict use_column
declare
    before  timestamp with time zone := clock_timestamp() - keep_seconds * interval '1 second';
    parties text[];
    purged  integer;
begin
    delete from requests where (caller, request_id) in (
        select r.caller, r.request_id from requests r where r.made_at < before
        order by r.made_at limit most for update skip locked
    );
    get diagnostics purged = row_count;
    -- A request is answered from its ticket, so tickets stay until there is none so old.
    if purged > 0 then
        return purged;
    end if;
    parties := array(
        select p.party_id from parties p where not p.open and p.opened_at < before
          and not exists (select from tickets t where t.party_id = p.party_id and t.made_at >= before)
        order by p.opened_at limit most for update skip locked
    );
    delete from tickets t where t.party_id = any (parties);
    delete from parties p where p.party_id = any (parties);
    get diagnostics purged = row_count;
    if purged > 0 then
        return purged;
    end if;
    delete from matches where match_id in (
        select m.match_id from matches m where m.state <> 'formed' and m.formed_at < before
          and not exists (select from parties p where p.match_id = m.match_id)
        order by m.formed_at limit most for update skip locked
    );
    get diagnostics purged = row_count;
    return purged;
end
$$;
comment on function purge is
    'Removes up to so many rows that are older than that: requests, then closed parties with their tickets, then matches '
    'of none of which a party is left. Gives how many; 0 when there is nothing left to remove.';

revoke all on function purge from public;
grant execute on function purge to baohuang_matchmaking;
grant delete on tickets, parties, matches to baohuang_matchmaking;
