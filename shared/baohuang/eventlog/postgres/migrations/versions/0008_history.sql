-- History: what it takes to read the log back by player, type, ruling and time. Nine events of ten are moves (cards
-- played, passes), so what moves do not need is kept from them by the indexes' conditions.

create index moves_by_actor on eventlog.events (actor, position) where type in ('CardsPlayed', 'Passed');
create index others_by_actor on eventlog.events (actor, position) where type not in ('CardsPlayed', 'Passed');
create index events_by_player on eventlog.events ((data ->> 'player'), position) where data ? 'player';
create index others_by_type on eventlog.events (type, position) where type not in ('CardsPlayed', 'Passed');
create index others_of_a_stream on eventlog.events (stream_id, type, version)
    where type not in ('CardsPlayed', 'Passed');

-- Rulings: one event of a few hundred.

create index rulings_by_position on eventlog.events (position) where type in (
    'FineReversed', 'HandVoided', 'PlayerBanned', 'PlayerFined', 'PlayerReinstated', 'PlayerUnseated', 'TableClosed',
    'TableDissolved', 'TrusteeshipEntered', 'TrusteeshipMadePermanent', 'TurnExtended', 'VoidReversed'
);
create index rulings_of_a_stream on eventlog.events (stream_id, version) where type in (
    'FineReversed', 'HandVoided', 'PlayerBanned', 'PlayerFined', 'PlayerReinstated', 'PlayerUnseated', 'TableClosed',
    'TableDissolved', 'TrusteeshipEntered', 'TrusteeshipMadePermanent', 'TurnExtended', 'VoidReversed'
);
create index rulings_by_clause on eventlog.events ((data ->> 'rule'), position) where type in (
    'FineReversed', 'HandVoided', 'PlayerBanned', 'PlayerFined', 'PlayerReinstated', 'PlayerUnseated', 'TableClosed',
    'TableDissolved', 'TrusteeshipEntered', 'TrusteeshipMadePermanent', 'TurnExtended', 'VoidReversed'
);
create index rulings_by_actor on eventlog.events (actor, position) where type in (
    'FineReversed', 'HandVoided', 'PlayerBanned', 'PlayerFined', 'PlayerReinstated', 'PlayerUnseated', 'TableClosed',
    'TableDissolved', 'TrusteeshipEntered', 'TrusteeshipMadePermanent', 'TurnExtended', 'VoidReversed'
);
create index rulings_by_player on eventlog.events ((data ->> 'player'), position) where type in (
    'FineReversed', 'HandVoided', 'PlayerBanned', 'PlayerFined', 'PlayerReinstated', 'PlayerUnseated', 'TableClosed',
    'TableDissolved', 'TrusteeshipEntered', 'TrusteeshipMadePermanent', 'TurnExtended', 'VoidReversed'
);

-- Rulings that are not about one player whom they name: whose seats theirs are stands in the hand's first event.

create table eventlog.rulings_about (
    player   text collate "C" not null,
    position bigint           not null,
    constraint a_ruling_is_about_a_player_once primary key (player, position)
);

comment on table eventlog.rulings_about is
    'An index and no record: which players a ruling is about that names seats, or five players. Written with the ruling.';

create trigger rulings_about_is_append_only before update or delete or truncate on eventlog.rulings_about
    for each statement execute function eventlog.refuse_change();

create function eventlog.players_of(ruling eventlog.events) returns setof text
language sql stable as $$
    select hand.players ->> seat.number::integer
    from (
        select started.data -> 'players' as players
        from eventlog.events as started
        where started.stream_id = ruling.stream_id and started.type = 'HandStarted' and started.version < ruling.version
        order by started.version desc
        limit 1
    ) as hand
    cross join (
        select jsonb_path_query(ruling.data, 'lax $.seats[*] ? (@ >= 0 && @ < 5)')
        union
        select jsonb_path_query(ruling.data, 'lax $.trustees[*] ? (@ >= 0 && @ < 5)')
    ) as seat (number)
    where hand.players ->> seat.number::integer is not null
    union
    select named.player #>> '{}'
    from jsonb_path_query(ruling.data, 'lax $.players[*] ? (@.type() == "string")') as named (player)
$$;

comment on function eventlog.players_of is
    'Who sat, in the hand that a ruling is of, at the seats it names, and whom it names; nobody for what is no ruling.';

create function eventlog.note_players() returns trigger language plpgsql as $$
begin
    insert into eventlog.rulings_about (player, position)
    select about.player, new.position from eventlog.players_of(new) as about (player);
    return null;
end
$$;

create trigger rulings_about_players after insert on eventlog.events for each row
    when (
        new.type in ('HandVoided', 'TableDissolved', 'TurnExtended', 'VoidReversed')
        and new.data ?| array['seats', 'trustees', 'players']
    )
    execute function eventlog.note_players();

insert into eventlog.rulings_about (player, position)
select about.player, e.position
from eventlog.events as e cross join eventlog.players_of(e) as about (player)
where e.type in ('HandVoided', 'TableDissolved', 'TurnExtended', 'VoidReversed') and e.type not in ('CardsPlayed', 'Passed');

-- From moments to positions to versions, by halving: each step looks one row up.

create function eventlog.position_at(moment timestamp with time zone) returns bigint
language sql stable strict as $$
    with recursive halving (low, high) as (
        select 0::bigint, coalesce(max(e.position), 0) from eventlog.events as e where isfinite(moment)
        union all
        select case when at.recorded_at < moment then middle + 1 else low end,
               case when at.recorded_at < moment then high else middle end
        from halving
        cross join lateral (select (low + high) / 2) as half (middle)
        cross join lateral (
            select e.recorded_at from eventlog.events as e where e.position > middle order by e.position limit 1
        ) as at
        where low < high
    )
    select low from halving where low >= high and isfinite(moment)
$$;

comment on function eventlog.position_at is
    'A position before the events that were recorded from a moment on; null for an infinite moment. Commands are appended '
    'in nearly the order of their readings of the clock: who asks leaves some room.';

create function eventlog.version_at(stream text, at bigint) returns integer
language sql stable strict as $$
    with recursive halving (low, high) as (
        select case when last.position <= at then last.version else 0 end, last.version
        from (
            select e.position, e.version from eventlog.events as e
            where e.stream_id = stream order by e.version desc limit 1
        ) as last
        union all
        select case when found.position <= at then middle + 1 else low end,
               case when found.position <= at then high else middle end
        from halving
        cross join lateral (select (low + high) / 2) as half (middle)
        cross join lateral (
            select e.position from eventlog.events as e
            where e.stream_id = stream and e.version > middle order by e.version limit 1
        ) as found
        where low < high and at > 0
    )
    select coalesce(min(low), 0) from halving where low >= high
$$;

comment on function eventlog.version_at is
    'The version at which a stream was at a position of the log, 0 if it did not exist.';

-- Who may do what.

revoke all on function eventlog.players_of, eventlog.note_players, eventlog.position_at, eventlog.version_at from public;
grant select, insert on eventlog.rulings_about to baohuang_app;
grant execute on function
    eventlog.players_of, eventlog.note_players, eventlog.position_at, eventlog.version_at to baohuang_app;
