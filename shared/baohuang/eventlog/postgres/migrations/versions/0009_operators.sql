-- Operators: the log as people ask it with SQL. Views, the indexes they need beside those of 0008, a role of their own.
--
-- What may be hidden is the key "hidden" of an event's data, its salt and its request id; the view `events` alone reads
-- them, and keeps them back until the hand is over. It is a barrier: no function of whoever asks is run on a row before
-- they are taken out. The other views are made of public keys, one by one, so no function run early on one of their rows
-- sees more than they show; they are no barriers, and any filter on them may reach an index.
--
-- The JSON leaves out what is zero, false or empty, hence coalesce. Seats are 0..4, and what is listed by seat is a JSON
-- array, which counts from 0 as well.

create index hands_by_player on eventlog.events using gin ((data -> 'players')) where type = 'HandStarted';
create index hands_and_rulings_by_time on eventlog.events (type, recorded_at) where type in (
    'ConnectionLost', 'ConnectionRestored', 'FineReversed', 'HandFinished', 'HandStarted', 'HandVoided', 'PlayerBanned',
    'PlayerFined', 'PlayerReinstated', 'PlayerUnseated', 'TableClosed', 'TableDissolved', 'TrusteeshipEntered',
    'TrusteeshipMadePermanent', 'TurnExtended', 'VoidReversed'
);
-- Positions follow the clock closely, and so do pages, so a few bytes for some of these tell which times they are of.
create index events_by_time on eventlog.events using brin (recorded_at) with (pages_per_range = 16, autosummarize = on);

create schema history;

comment on schema history is
    'What happened, for operators to ask with SQL as baohuang_reader: see docs/operations.md. Nothing hidden of a hand '
    'that is not over.';

create view history.events with (security_barrier = true) as
select e.position, e.stream_id, e.version, e.type, e.actor, e.recorded_at,
       case
           when not e.data ? 'hidden' then e.data
           when exists (
               select from eventlog.events as f
               where f.stream_id = e.stream_id and f.type = 'HandFinished' and f.version >= e.version
           ) then e.data
           else e.data - 'hidden'
       end as data,
       case when exists (
           select from eventlog.events as f
           where f.stream_id = e.stream_id and f.type = 'HandFinished' and f.version >= e.version
       ) then e.request_id end as request_id,
       case when exists (
           select from eventlog.events as f
           where f.stream_id = e.stream_id and f.type = 'HandFinished' and f.version >= e.version
       ) then e.salt end as salt,
       e.hash
from (
    -- Both halves have an index by actor.
    select * from eventlog.events where type in ('CardsPlayed', 'Passed')
    union all
    select * from eventlog.events where type not in ('CardsPlayed', 'Passed')
) as e;

comment on view history.events is
    'Every event of the log as docs/protocol.md describes it, without what is hidden of hands that are not over.';
comment on column history.events.position is 'The place in the whole log: 1, 2, 3, … in commit order without holes.';
comment on column history.events.stream_id is 'The table''s id; "player:" and a player''s id for his bans.';
comment on column history.events.version is 'The place in the stream: 1, 2, 3, …';
comment on column history.events.type is 'The name of the event''s message in baohuang.events.v1.';
comment on column history.events.actor is
    'Whose command it came of: a player''s or operator''s id, or one with @ for the service itself.';
comment on column history.events.recorded_at is 'When the command was decided, by the database''s clock.';
comment on column history.events.data is
    'The event as canonical proto3 JSON: what is zero, false or empty is left out. The key "hidden" is there once the '
    'hand is over.';
comment on column history.events.request_id is 'The id that the caller gave his request; null until the hand is over.';
comment on column history.events.salt is 'What the hidden part was hashed with; null until the hand is over.';
comment on column history.events.hash is 'SHA-256 over the hash before, the public part and the salted hidden part.';

create view history.hands as
select s.stream_id,
       (s.data ->> 'hand')::integer as hand,
       s.data ->> 'ruleset' as ruleset,
       s.data -> 'options' as options,
       s.data -> 'players' as players,
       coalesce((s.data ->> 'dealer')::integer, 0) as dealer,
       s.version as started_version,
       s.recorded_at as started_at,
       f.version as finished_version,
       f.recorded_at as finished_at,
       f.data is not null and coalesce((f.data ->> 'void')::boolean, false) as void,
       (coalesce(v.data, f.data) ->> 'emperor')::integer as emperor,
       (coalesce(v.data, f.data) ->> 'guard')::integer as guard,
       coalesce(v.data, f.data) ->> 'solo' as solo,
       coalesce((coalesce(v.data, f.data) ->> 'surrendered')::boolean, false) as surrendered,
       coalesce(v.data, f.data) -> 'places' as places,
       coalesce(v.data, f.data) -> 'points' as points,
       coalesce(v.data, f.data) -> 'doublings' as doublings,
       v.version as void_reversed_by,
       s.position as started_position
from eventlog.events as s
left join lateral (
    select e.version, e.recorded_at, e.data
    from eventlog.events as e
    where e.stream_id = s.stream_id and e.type = 'HandFinished' and e.version > s.version
    order by e.version
    limit 1
) as f on true
left join lateral (
    select e.version, e.data
    from eventlog.events as e
    where e.stream_id = s.stream_id and e.type = 'VoidReversed' and e.version > s.version
        and e.data -> 'hand' = s.data -> 'hand'
    limit 1
) as v on true
where s.type = 'HandStarted';

comment on view history.hands is 'Every hand that was begun, a row each.';
comment on column history.hands.stream_id is 'The table''s id.';
comment on column history.hands.hand is 'The number of the hand at its table, from 1.';
comment on column history.hands.ruleset is 'Which ruleset it was played by.';
comment on column history.hands.options is 'The table''s options, those that were set.';
comment on column history.hands.players is 'The five players by seat; players ? ''NAME'' finds a player''s hands by index.';
comment on column history.hands.dealer is 'The seat that was dealt the first card.';
comment on column history.hands.started_version is 'The version of HandStarted.';
comment on column history.hands.started_at is 'When it was begun.';
comment on column history.hands.finished_version is 'The version of HandFinished; null while it is played.';
comment on column history.hands.finished_at is 'When it was over; null while it is played.';
comment on column history.hands.void is 'Whether it ended without being scored; why, a ruling HandVoided says.';
comment on column history.hands.void_reversed_by is
    'The version of the ruling by which it is scored after all, with these places and points; null for others.';
comment on column history.hands.emperor is 'The emperor''s seat; null while it is played, and if there was none.';
comment on column history.hands.guard is 'The guard''s seat; null while it is played, and if there was none.';
comment on column history.hands.solo is 'The emperor''s solo; null while it is played, and if it was none.';
comment on column history.hands.surrendered is 'Whether the emperor surrendered.';
comment on column history.hands.places is 'The seats in the order of their places; null while it is played.';
comment on column history.hands.points is 'The points by seat, fines not among them; null while it is played.';
comment on column history.hands.doublings is 'What doubled the points; null where nothing did.';
comment on column history.hands.started_position is 'The position of HandStarted in the log.';

-- What a seat did in its turn. One that its player made himself came of his command, so an index by actor finds it; one
-- that the trustee or a rule made for him came of whatever command was before.
create view history.turns as
select e.stream_id,
       (
           select h.data ->> 'hand' from eventlog.events as h
           where h.stream_id = e.stream_id and h.type = 'HandStarted' and h.version < e.version
           order by h.version desc
           limit 1
       )::integer as hand,
       e.version,
       e.type,
       coalesce((e.data ->> 'seat')::integer, 0) as seat,
       e.player,
       (
           select h.data -> 'players' ->> coalesce((e.data ->> 'seat')::integer, 0) from eventlog.events as h
           where h.stream_id = e.stream_id and h.type = 'HandStarted' and h.version < e.version
           order by h.version desc
           limit 1
       ) as seat_of,
       e.data -> 'cards' as cards,
       (e.data ->> 'left')::integer as cards_left,
       (e.data ->> 'place')::integer as place,
       o.recorded_at as opened_at,
       o.due_at,
       e.recorded_at,
       (1000 * extract(epoch from e.recorded_at - o.recorded_at))::bigint as took_ms,
       (1000 * extract(epoch from o.due_at - e.recorded_at))::bigint as left_ms,
       e.position
from (
    select stream_id, version, type, data, recorded_at, position, actor as player
    from eventlog.events
    where type in ('CardsPlayed', 'Passed') and not data ? 'automatic'
    union all
    select stream_id, version, type, data, recorded_at, position, actor
    from eventlog.events
    where type in (
            'Answered', 'CardCalled', 'CrownYielded', 'EmperorEnthroned', 'OpenSoloDeclared', 'TributeReturned'
        )
        and not data ? 'automatic' and not data ? 'forced'
    union all
    select stream_id, version, type, data, recorded_at, position, null::text collate "C"
    from eventlog.events
    where type in (
            'Answered', 'CardCalled', 'CardsPlayed', 'CrownYielded', 'EmperorEnthroned', 'OpenSoloDeclared', 'Passed',
            'TributeReturned'
        )
        and (data ? 'automatic' or data ? 'forced')
) as e
left join lateral (
    select b.recorded_at, (b.data ->> 'dueAt')::timestamp with time zone as due_at
    from eventlog.events as b
    where b.stream_id = e.stream_id and b.version < e.version
        and b.type in (
            'CardsPlayed', 'CrownOffered', 'CrownYielded', 'Passed', 'PhaseBegan', 'TributePaid', 'TributeReturned',
            'TurnExtended'
        )
    order by b.version desc
    limit 1
) as o on true;

comment on view history.turns is 'What each seat did in each of its turns, a row each, by its player or the trustee.';
comment on column history.turns.stream_id is 'The table''s id.';
comment on column history.turns.hand is 'The number of the hand at its table.';
comment on column history.turns.version is 'The version of the event.';
comment on column history.turns.type is
    'CardsPlayed, Passed, CrownYielded, EmperorEnthroned, TributeReturned, CardCalled, OpenSoloDeclared or Answered.';
comment on column history.turns.seat is 'Whose turn it was.';
comment on column history.turns.player is 'Who did it, by himself; null if the trustee or a rule did it for the seat.';
comment on column history.turns.seat_of is 'Whose seat it is, whoever did it.';
comment on column history.turns.cards is 'The cards that were played; null but for CardsPlayed.';
comment on column history.turns.cards_left is 'How many cards he has left; null for none, and but for CardsPlayed.';
comment on column history.turns.place is 'The place 1..5 that he took with his last card; else null.';
comment on column history.turns.opened_at is 'When the turn was opened, or extended by the service.';
comment on column history.turns.due_at is 'The deadline of the turn; null where the rules left nothing to wait for.';
comment on column history.turns.recorded_at is 'When it was decided, by the database''s clock.';
comment on column history.turns.took_ms is 'Milliseconds from the opening of the turn.';
comment on column history.turns.left_ms is 'Milliseconds that were left to the deadline.';
comment on column history.turns.position is 'The position in the log.';

create view history.plays as
select stream_id, hand, version, type = 'Passed' as passed, seat, player, seat_of, cards, cards_left, place, opened_at,
       due_at, recorded_at, took_ms, left_ms, position
from history.turns
where type in ('CardsPlayed', 'Passed');

comment on view history.plays is 'What was played and passed in tricks, a row each, by players or trustees.';
comment on column history.plays.stream_id is 'The table''s id.';
comment on column history.plays.hand is 'The number of the hand at its table.';
comment on column history.plays.version is 'The version of the event.';
comment on column history.plays.passed is 'Whether it was a pass.';
comment on column history.plays.seat is 'Whose turn it was.';
comment on column history.plays.player is 'Who did it, by himself; null if the trustee did it for the seat.';
comment on column history.plays.seat_of is 'Whose seat it is, whoever did it.';
comment on column history.plays.cards is 'The cards that were played; null for a pass.';
comment on column history.plays.cards_left is 'How many cards he has left; null for none, and for a pass.';
comment on column history.plays.place is 'The place 1..5 that he took with his last card; else null.';
comment on column history.plays.opened_at is 'When the turn was opened, or extended by the service.';
comment on column history.plays.due_at is 'The deadline of the turn.';
comment on column history.plays.recorded_at is 'When it was decided, by the database''s clock.';
comment on column history.plays.took_ms is 'Milliseconds from the opening of the turn.';
comment on column history.plays.left_ms is 'Milliseconds that were left to the deadline.';
comment on column history.plays.position is 'The position in the log.';

create view history.rulings as
select e.stream_id,
       e.version,
       e.type,
       e.data ->> 'rule' as rule,
       (h.data ->> 'hand')::integer as hand,
       e.data ->> 'player' as player,
       case
           when e.data ? 'player' then jsonb_build_array(e.data -> 'player')
           when e.type = 'VoidReversed' then e.data -> 'players'
           else coalesce((
               select jsonb_agg(h.data -> 'players' -> about.seat::integer order by about.place)
               from jsonb_array_elements_text(coalesce(e.data -> 'seats', e.data -> 'trustees'))
                   with ordinality as about (seat, place)
           ), '[]')
       end as players,
       e.data ->> 'reason' as reason,
       e.data ->> 'note' as note,
       case when e.type in ('FineReversed', 'PlayerFined') then (e.data ->> 'points')::integer end as points,
       (e.data ->> 'decidedAt')::timestamp with time zone as decided_at,
       case
           when e.type = 'TurnExtended' then e.data ->> 'missedDueAt'
           when e.type in ('TrusteeshipEntered', 'PlayerUnseated') then e.data ->> 'dueAt'
       end::timestamp with time zone as missed_due_at,
       coalesce(e.data -> 'restsOn', '[]') as rests_on,
       (e.data ->> 'reverses')::integer as reverses,
       (
           select r.version from eventlog.events as r
           where r.stream_id = e.stream_id and r.type in ('FineReversed', 'VoidReversed') and r.version > e.version
               and r.data ->> 'reverses' = e.version::text
           limit 1
       ) as reversed_by,
       e.actor,
       e.recorded_at,
       e.position
from eventlog.events as e
left join lateral (
    select b.data
    from eventlog.events as b
    where b.stream_id = e.stream_id and b.type = 'HandStarted'
        and b.version < coalesce((e.data ->> 'reverses')::integer, e.version)
    order by b.version desc
    limit 1
) as h on true
where e.type in (
    'TrusteeshipEntered', 'TrusteeshipMadePermanent', 'PlayerFined', 'HandVoided', 'TurnExtended', 'PlayerUnseated',
    'TableClosed', 'TableDissolved', 'PlayerBanned', 'PlayerReinstated', 'FineReversed', 'VoidReversed'
);

comment on view history.rulings is 'Every ruling (RULE-1), a row each.';
comment on column history.rulings.stream_id is 'The table''s id; "player:" and a player''s id for his bans.';
comment on column history.rulings.version is 'The version of the event: with stream_id what `baohuang explain` asks for.';
comment on column history.rulings.type is 'What was ruled: the name of the event''s message.';
comment on column history.rulings.rule is 'The id of the clause of docs/rules.md.';
comment on column history.rulings.hand is 'The hand that was begun last by then, or before what it reverses; null before.';
comment on column history.rulings.player is 'Whom it is about, if that is one player.';
comment on column history.rulings.players is 'All whom it is about, by their seats then; empty if it is about the table.';
comment on column history.rulings.reason is 'Why, as the event''s message enumerates it; null if that has none.';
comment on column history.rulings.note is 'The operator''s words; null if it is not by an operator.';
comment on column history.rulings.points is 'The points of a fine, negative, or given back; null for other rulings.';
comment on column history.rulings.decided_at is 'The reading of the database''s clock by which it was decided.';
comment on column history.rulings.missed_due_at is 'The deadline that was missed, where one was.';
comment on column history.rulings.rests_on is 'The versions of the events that it rests on.';
comment on column history.rulings.reverses is 'The version of the ruling that it reverses, for one that does.';
comment on column history.rulings.reversed_by is 'The version of the ruling that reverses it; null: it stands.';
comment on column history.rulings.actor is 'Whose command it came of: an operator''s id, a player''s, or one with @.';
comment on column history.rulings.recorded_at is 'When it was recorded, by the database''s clock.';
comment on column history.rulings.position is 'The position in the log.';

create view history.fines as
select r.stream_id, r.version, r.hand, r.player, r.points, r.reason, r.rule, r.decided_at, r.rests_on, r.reversed_by,
       r.actor, r.recorded_at, r.position
from history.rulings as r
where r.type = 'PlayerFined';

comment on view history.fines is 'Every fine (FINE-2, FINE-3), those that were reversed among them.';
comment on column history.fines.stream_id is 'The table''s id.';
comment on column history.fines.version is 'The version of the event.';
comment on column history.fines.hand is 'The number of the hand at its table.';
comment on column history.fines.player is 'Who was fined.';
comment on column history.fines.points is 'How many points, negative.';
comment on column history.fines.reason is 'Whether he forfeited his seat, or an operator kicked him.';
comment on column history.fines.rule is 'The id of the clause of docs/rules.md.';
comment on column history.fines.decided_at is 'The reading of the database''s clock by which it was decided.';
comment on column history.fines.rests_on is 'The versions of the events that it rests on.';
comment on column history.fines.reversed_by is 'The version of the ruling that reverses it; null: it stands.';
comment on column history.fines.actor is 'Whose command it came of: his own, or an operator''s.';
comment on column history.fines.recorded_at is 'When it was recorded, by the database''s clock.';
comment on column history.fines.position is 'The position in the log.';

create view history.evidence as
select r.stream_id,
       r.version as ruling,
       e.version,
       e.type,
       e.actor,
       (e.data ->> 'dueAt')::timestamp with time zone as due_at,
       e.recorded_at,
       e.position
from eventlog.events as r
cross join lateral jsonb_array_elements_text(r.data -> 'restsOn') as rests_on (version)
join eventlog.events as e on e.stream_id = r.stream_id and e.version = rests_on.version::integer
where r.type in (
    'TrusteeshipEntered', 'TrusteeshipMadePermanent', 'PlayerFined', 'HandVoided', 'TurnExtended', 'PlayerUnseated',
    'TableClosed', 'TableDissolved', 'PlayerBanned', 'PlayerReinstated', 'FineReversed', 'VoidReversed'
);

comment on view history.evidence is 'The events that rulings rest on (RULE-1), a row for each ruling and event.';
comment on column history.evidence.stream_id is 'The table''s id.';
comment on column history.evidence.ruling is 'The version of the ruling.';
comment on column history.evidence.version is 'The version of the event that it rests on.';
comment on column history.evidence.type is 'What the event is: the name of its message.';
comment on column history.evidence.actor is 'Whose command the event came of.';
comment on column history.evidence.due_at is 'The deadline that the event set, or tells of; null if it has none.';
comment on column history.evidence.recorded_at is 'When the event was recorded, by the database''s clock.';
comment on column history.evidence.position is 'The position of the event in the log.';

create view history.trusteeships as
select e.stream_id,
       e.version,
       (
           select h.data ->> 'hand' from eventlog.events as h
           where h.stream_id = e.stream_id and h.type = 'HandStarted' and h.version < e.version
           order by h.version desc
           limit 1
       )::integer as hand,
       coalesce((e.data ->> 'seat')::integer, 0) as seat,
       e.data ->> 'player' as player,
       e.data ->> 'reason' as reason,
       (e.data ->> 'entry')::integer as entry,
       e.data ->> 'rule' as rule,
       (e.data ->> 'dueAt')::timestamp with time zone as missed_due_at,
       (e.data ->> 'connectionLostAt')::timestamp with time zone as connection_lost_at,
       coalesce(e.data -> 'restsOn', '[]') as rests_on,
       e.recorded_at as entered_at,
       (
           select n.recorded_at from eventlog.events as n
           where n.stream_id = e.stream_id and n.version > e.version
               and (n.type = 'HandFinished' or (
                   n.type = 'TrusteeshipCancelled' and n.data -> 'seat' is not distinct from e.data -> 'seat'
               ))
           order by n.version
           limit 1
       ) as ended_at,
       e.position
from eventlog.events as e
where e.type = 'TrusteeshipEntered';

comment on view history.trusteeships is 'Every time a seat came to be played by the trustee (section 6 of the rules).';
comment on column history.trusteeships.stream_id is 'The table''s id.';
comment on column history.trusteeships.version is 'The version of the event.';
comment on column history.trusteeships.hand is 'The number of the hand at its table.';
comment on column history.trusteeships.seat is 'Which seat.';
comment on column history.trusteeships.player is 'Whose seat.';
comment on column history.trusteeships.reason is 'Why, as TrusteeshipReason enumerates it.';
comment on column history.trusteeships.entry is 'For the how-manieth time in this hand; the fourth is for good.';
comment on column history.trusteeships.rule is 'The id of the clause of docs/rules.md.';
comment on column history.trusteeships.missed_due_at is 'The deadline that was missed; null unless his time ran out.';
comment on column history.trusteeships.connection_lost_at is
    'Since when his line was known to be lost; null if it was not.';
comment on column history.trusteeships.rests_on is 'The versions of the events that it rests on.';
comment on column history.trusteeships.entered_at is 'When it began: when that was recorded, by the database''s clock.';
comment on column history.trusteeships.ended_at is 'When he took his seat back, or the hand was over; null: it lasts.';
comment on column history.trusteeships.position is 'The position in the log.';

create view history.connections as
select e.stream_id,
       e.version,
       (
           select h.data ->> 'hand' from eventlog.events as h
           where h.stream_id = e.stream_id and h.type = 'HandStarted' and h.version < e.version
           order by h.version desc
           limit 1
       )::integer as hand,
       coalesce((e.data ->> 'seat')::integer, 0) as seat,
       e.data ->> 'player' as player,
       e.type = 'ConnectionLost' as lost,
       coalesce(e.data ->> 'lostAt', e.data ->> 'restoredAt')::timestamp with time zone as happened_at,
       e.recorded_at,
       e.position
from eventlog.events as e
where e.type in ('ConnectionLost', 'ConnectionRestored') and e.data ? 'player';

comment on view history.connections is
    'When players'' lines were lost and back, as far as it is evidence: at most one of each a seat and turn.';
comment on column history.connections.stream_id is 'The table''s id.';
comment on column history.connections.version is 'The version of the event.';
comment on column history.connections.hand is 'The number of the hand at its table.';
comment on column history.connections.seat is 'Which seat.';
comment on column history.connections.player is 'Whose line.';
comment on column history.connections.lost is 'True: his last stream was gone; false: he watched again.';
comment on column history.connections.happened_at is 'When, by the replica that saw it.';
comment on column history.connections.recorded_at is 'When it was recorded, by the database''s clock.';
comment on column history.connections.position is 'The position in the log.';

grant usage on schema history to baohuang_reader;
grant select on
    history.events, history.hands, history.turns, history.plays, history.rulings, history.fines, history.trusteeships,
    history.connections, history.evidence
to baohuang_reader;
