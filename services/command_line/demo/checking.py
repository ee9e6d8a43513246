"""What is checked once the hand is over, from the log in PostgreSQL and from what the watchers saw."""

from collections.abc import Sequence
from dataclasses import dataclass

from baohuang.client import CheckedGame, DevelopmentIdentity, connect_history
from baohuang.eventlog.chain import start, verify, verify_end
from baohuang.eventlog.codec import decode
from baohuang.eventlog.port import EventLog, StoredEvent, StreamId, Version
from baohuang.rules.deal import commitment_to, dealt, shuffled
from baohuang.rules.events import CardsDealt, Event, HandFinished, HandStarted, SeedCommitted
from baohuang.rules.evolve import evolve
from baohuang.rules.redact import mask
from baohuang.rules.rulesets import Deck
from baohuang.rules.state import Table, TableId
from command_line.demo.stage import HOST, Seen, last_tables


class CheckError(Exception):
    """Something about the hand does not hold."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One event of the log, decoded, and the table as it left it."""

    stored: StoredEvent
    event: Event
    table: Table


async def recorded(log: EventLog, table_id: TableId) -> Sequence[Recorded]:
    """Read the table's whole stream, verify its chain to its head, and fold it.

    Raises ChainBroken, and CheckError for a stream without events.
    """
    stream = StreamId(table_id)
    stored: list[StoredEvent] = []
    while page := await log.read_stream(stream, Version(len(stored))):
        stored += page
    verify_end(verify(start(stream), stored), await log.head(stream))
    return _replayed(stored)


def check(history: Sequence[Recorded], seen: Seen) -> None:
    """Check FAIR-1, the watchers' states and the points. Raises CheckError for what does not hold."""
    _check_deals([one.event for one in history], history[-1].table.ruleset.deck)
    _check_watchers(history[-1], seen)
    finished = finish_of(history)
    if sum(finished.points):
        raise CheckError(f"the points {finished.points} do not sum to zero")


async def check_as_client(address: str, seen: Seen) -> CheckedGame:
    """Check the game as any client can, believing nothing of the service: by the hash its spectator saw last.

    Raises CheckError for what does not hold, ClientError.
    """
    last = seen.spectator
    async with connect_history(address, DevelopmentIdentity(HOST)) as history:
        checked = await history.check_game(seen.table_id, {last.version: last.hash})
    if checked.findings:
        raise CheckError(f"the client finds: {checked.findings[0]}")
    return checked


def finish_of(history: Sequence[Recorded]) -> HandFinished:
    """Return the end of the hand. Raises CheckError if the log has none."""
    ends = [one.event for one in history if isinstance(one.event, HandFinished)]
    if len(ends) != 1:
        raise CheckError(f"the log has {len(ends)} finished hands instead of one")
    return ends[0]


def _replayed(stored: Sequence[StoredEvent]) -> Sequence[Recorded]:
    history: list[Recorded] = []
    table: Table | None = None
    for one in stored:
        event = decode(one.type, one.data)
        table = evolve(table, event)
        history.append(Recorded(one, event, table))
    if not history:
        raise CheckError("the log has no event of the table")
    return history


def _check_deals(events: Sequence[Event], deck: Deck) -> None:
    """FAIR-1: each seed now open is the one committed to, and with the players' entropy it gives the cards dealt."""
    started = next(event for event in events if isinstance(event, HandStarted))
    finished = next(event for event in events if isinstance(event, HandFinished))
    commitments = [event.commitment for event in events if isinstance(event, SeedCommitted)]
    deals = [event for event in events if isinstance(event, CardsDealt)]
    if not deals or len(deals) != len(finished.seeds):
        raise CheckError(f"{len(deals)} deals, {len(finished.seeds)} seeds opened")
    for deal, seed, commitment in zip(deals, map(bytes.fromhex, finished.seeds), commitments, strict=False):
        if commitment_to(seed) != commitment:
            raise CheckError(f"deal {deal.deal}: the seed is not the one committed to (FAIR-1)")
        hands = dealt(shuffled(deck, seed, started.entropy), deal.dealer)
        if deal.hidden is None or tuple(held.cards for held in deal.hidden.hands) != hands:
            raise CheckError(f"deal {deal.deal}: the cards are not those that the seed gives (FAIR-1)")


def _check_watchers(last: Recorded, seen: Seen) -> None:
    """Every watcher ended with the log's last version and hash, and with the fold of the log as he may see it."""
    for seat, moment in enumerate(last_tables(seen), -1):
        who = "the spectator" if seat < 0 else f"seat {seat}"
        if (moment.version, moment.hash) != (last.stored.version, last.stored.hash):
            raise CheckError(f"{who} ended at version {moment.version}, the log at {last.stored.version}")
        if moment.table != mask(last.table, None if seat < 0 else seat):
            raise CheckError(f"{who} ended with another table than the log gives")
