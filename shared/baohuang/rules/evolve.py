"""Event → state. Events say their consequences, so nothing here decides anything.

The same functions fold the full log and a viewer's redacted one: on a masked state, cards that an event does not show
move as HIDDEN ones. For every viewer v: evolve(mask(state, v), redact(event, v)) = mask(evolve(state, event), v).
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import reduce
from typing import Final

from baohuang.rules import events as ev
from baohuang.rules.cards import HIDDEN
from baohuang.rules.clock import NEVER
from baohuang.rules.deal import SEATS
from baohuang.rules.evolve_hand import NO_ANSWERS, evolve_hand
from baohuang.rules.frozen import changed, put
from baohuang.rules.rulesets import ruleset_named, with_options
from baohuang.rules.state import (
    ALL_SEATS,
    NO_CARDS,
    Commitment,
    Hand,
    Instant,
    Phase,
    Previous,
    Result,
    Reversible,
    SeatAtTable,
    Table,
    TableStatus,
    Trick,
)

INITIAL: Final = None
"""The state before the first event: no table."""
_NO_SITTERS: Final = (SeatAtTable(),) * SEATS


def fold(events: Iterable[ev.Event], table: Table | None = INITIAL) -> Table | None:
    """Return the state after the events, in order, from `table` on."""
    return reduce(evolve, events, table)


def states(events: Iterable[ev.Event], table: Table | None = INITIAL) -> Iterator[Table]:
    """Yield the state after each of the events, in order, from `table` on."""
    for event in events:
        table = evolve(table, event)
        yield table


def evolve(table: Table | None, event: ev.Event) -> Table:
    """Return the state after one event. TableOpened and HandStarted need no state before them."""
    match event:
        case ev.CardsPlayed() | ev.Passed() | ev.Answered() | ev.PhaseBegan() if table is not None:
            version = table.version + 1
            return changed(table, hand=evolve_hand(_hand(table), event, version), version=version)
        case ev.TableOpened():
            return _opened(event)
        case ev.HandStarted():
            return _hand_started(event)
        case _ if table is None:
            raise ValueError(f"{type(event).__name__} before there is a table")
        case _:
            return changed(_evolve_table(table, event), version=table.version + 1)


def _evolve_table(table: Table, event: ev.Event) -> Table:  # noqa: C901, PLR0911 - one line an event
    match event:
        case ev.PlayerSat():
            taken = SeatAtTable(event.player, due_at=event.due_at, due_version=_version_of(event.due_at, table))
            return changed(table, seats=put(table.seats, event.seat, taken), closes_at=NEVER, closes_version=0)
        case ev.PlayerStood() | ev.PlayerUnseated():
            left = _with_seat(table, event.seat, SeatAtTable())
            return replace(left, closes_at=event.closes_at, closes_version=_version_of(event.closes_at, table))
        case ev.ReadinessSet():
            return _readiness_set(table, event)
        case ev.SeedCommitted():
            seed = event.hidden.seed if event.hidden else ""
            return changed(table, commitment=Commitment(event.hand, event.deal, event.commitment, seed))
        case ev.HandFinished():
            return _hand_finished(table, event)
        case ev.TableDissolved():
            return replace(table, status=TableStatus.DISSOLVED, seats=_NO_SITTERS)
        case ev.TableClosed():
            return replace(table, status=TableStatus.CLOSED, seats=_NO_SITTERS, closes_at=NEVER, closes_version=0)
        case ev.CardsDealt():
            return _cards_dealt(table, event)
        case ev.TableOpened() | ev.HandStarted():
            raise ValueError(f"{type(event).__name__} makes a table, it changes none")
        case ev.PlayerBanned() | ev.PlayerReinstated():
            raise ValueError(f"{type(event).__name__} is of a player, not of a table")
        case _:
            return replace(table, hand=evolve_hand(_hand(table), event, table.version + 1))


def _hand(table: Table) -> Hand:
    if table.hand is None:
        raise ValueError("an event of a hand before there is one")
    return table.hand


def _opened(event: ev.TableOpened) -> Table:
    return Table(
        table_id=event.table_id,
        ruleset=with_options(ruleset_named(event.ruleset), event.options),
        options=event.options,
        opened_by=event.opened_by,
        version=1,
        closes_at=event.closes_at,
        closes_version=1 if event.closes_at else 0,
        invitation_digest=event.invitation_digest,
    )


def _version_of(deadline: Instant, table: Table) -> int:
    """Return the version of the event that is being applied, if it sets a deadline; else 0."""
    return table.version + 1 if deadline else 0


def _with_seat(table: Table, seat: int, taken: SeatAtTable) -> Table:
    return replace(table, seats=put(table.seats, seat, taken))


def _readiness_set(table: Table, event: ev.ReadinessSet) -> Table:
    """Set the readiness; a deadline that stays as it was rests on the event that set it first."""
    before = table.seats[event.seat]
    version = before.due_version if event.due_at == before.due_at else _version_of(event.due_at, table)
    taken = SeatAtTable(event.player, event.ready, event.entropy, event.due_at, version)
    return _with_seat(table, event.seat, taken)


def _hand_started(event: ev.HandStarted) -> Table:
    seed = event.hidden.seed if event.hidden else ""
    return Table(
        table_id=event.table_id,
        ruleset=with_options(ruleset_named(event.ruleset), event.options),
        options=event.options,
        opened_by=event.opened_by,
        version=event.version,
        seats=tuple(
            SeatAtTable(player, ready=True, entropy=entropy)
            for player, entropy in zip(event.players, event.entropy, strict=True)
        ),
        hands_played=event.hand - 1,
        commitment=Commitment(event.hand, 1, event.commitment, seed),
        previous=event.previous,
        hand=Hand(number=event.hand, players=event.players, dealer=event.dealer),
        invitation_digest=event.invitation_digest,
    )


def _cards_dealt(table: Table, event: ev.CardsDealt) -> Table:
    shown = {held.seat: held.cards for held in event.hidden.hands} if event.hidden else {}
    hand = replace(
        _hand(table),
        deal=event.deal,
        hands=tuple(shown.get(seat, (HIDDEN,) * event.sizes[seat]) for seat in ALL_SEATS),
    )
    seed = table.commitment.seed if table.commitment else ""
    return replace(table, hand=hand, seeds=(*table.seeds, seed), commitment=None)


def _hand_finished(table: Table, event: ev.HandFinished) -> Table:
    hand = _hand(table)
    left = {held.seat: held.cards for held in event.hands}
    finished = replace(
        hand,
        phase=Phase.SETTLED,
        turn=None,
        due_at=NEVER,
        asked=(),
        answers=NO_ANSWERS,
        offer=None,
        hands=tuple(left.get(seat, NO_CARDS) for seat in ALL_SEATS),
        roles=replace(hand.roles, guard=event.guard, solo=event.solo),
        stakes=replace(hand.stakes, surrendered=event.surrendered),
        tribute=(),
        trick=Trick(),
        reversible=(*hand.reversible, *_void_reversible(table, event)),
        result=Result(event.places, event.points, event.void, event.seeds),
    )
    return replace(
        table,
        seats=tuple(
            SeatAtTable(seat.player, due_at=event.due_at, due_version=_version_of(event.due_at, table))
            for seat in table.seats
        ),
        hands_played=event.hand,
        seeds=event.seeds,
        previous=_previous(table.previous, hand, event),
        hand=finished,
    )


def _void_reversible(table: Table, event: ev.HandFinished) -> tuple[Reversible, ...]:
    """Return that the hand is void, by the HandVoided just before, if it was played to its end all the same."""
    ended = event.places or event.surrendered
    return (Reversible(table.version, None),) if event.void and ended else ()


def _previous(before: Previous | None, hand: Hand, event: ev.HandFinished) -> Previous | None:
    """Return what the next hand needs; after a void hand without an emperor the last emperor deals again (DEAL-1)."""
    if event.emperor is None and event.void:
        return replace(before, pays_tribute=False) if before else None
    return Previous(
        players=hand.players,
        # Logs of before `emperor` was optional leave out seat 0.
        emperor=event.emperor or 0,
        guard=event.guard,
        solo=event.solo,
        places=event.places,
        points=event.points,
        pays_tribute=not (event.void or event.surrendered),
    )
