"""Writing the ledger. Every call is part of the transaction of the connection it is given.

    event of the log ──scored──► posting n, its entries, the accounts
          │                          ▲
          └──cannot be──► n waits ───┘ scored after all, or skipped by an operator

Numbers are given out in the order of the log, to events that cannot be scored as well: so the order of postings is that
of the log, whenever they come to be scored.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from baohuang.database.pool import Connection
from baohuang.eventlog.port import NO_POSITION, Position
from baohuang.scoring.events import CODEC, NO_POSTING, HandScored, Posted, PostingNumber
from baohuang.stream.table_messages import TableEvent
from scoring_service.entries import entries_of
from scoring_service.queries import query
from scoring_service.scores import posted
from scoring_service.settling import settling_of

_LOCK_PROGRESS: Final = query("lock_progress")
_ADVANCE: Final = query("advance")
_INSERT_POSTINGS: Final = query("insert_postings")
_INSERT_ENTRIES: Final = query("insert_entries")
_PUT_ASIDE: Final = query("put_aside")
_WAITING: Final = query("waiting")
_STILL_WAITING: Final = query("still_waiting")
_SETTLE_WAITING: Final = query("settle_waiting")


@dataclass(frozen=True, slots=True)
class Progress:
    """The last number given out, and the position of the event it was given to."""

    number: PostingNumber = NO_POSTING
    position: Position = NO_POSITION

    def next(self, position: Position) -> "Progress":
        """Return the next number, given to the event at that position."""
        return Progress(PostingNumber(self.number + 1), position)


@dataclass(frozen=True, slots=True)
class Waiting:
    """A number kept for an event that could not be scored, why it could not, and how often that was tried."""

    number: PostingNumber
    position: Position
    hash: str
    error: str
    tries: int
    since: datetime


async def lock_progress(connection: Connection) -> Progress:
    """Return how far the ledger has got; nobody else gets further until the transaction ends."""
    row: Any = await connection.fetchrow(_LOCK_PROGRESS)
    return Progress(row["last_number"], row["last_position"])


async def advance(connection: Connection, progress: Progress) -> None:
    """Note how far the ledger has got."""
    await connection.execute(_ADVANCE, progress.number, progress.position)


@dataclass(frozen=True, slots=True)
class Booking:
    """A posting, and the event of the log that it is of."""

    posting: Posted
    event: TableEvent


def scored(number: PostingNumber, event: TableEvent) -> Booking:
    """Return the booking that an event leads to. Raises Unscorable."""
    return Booking(posted(number, settling_of(event)), event)


async def book(connection: Connection, bookings: Sequence[Booking]) -> None:
    """Write postings with their entries and what these do to accounts.

    Raises asyncpg.IntegrityConstraintViolationError for what was booked before.
    """
    if rows := [_posting_row(booking) for booking in bookings]:
        await connection.execute(_INSERT_POSTINGS, *zip(*rows, strict=True))
    if entries := [row for booking in bookings for row in _entry_rows(booking.posting)]:
        await connection.execute(_INSERT_ENTRIES, *zip(*entries, strict=True))


async def put_aside(connection: Connection, progress: Progress, event_hash: str, error: Exception) -> None:
    """Keep the number for the event it was given to, which could not be scored."""
    told = f"{type(error).__name__}: {error}"
    await connection.execute(_PUT_ASIDE, progress.number, progress.position, event_hash, told)


async def waiting(connection: Connection) -> Sequence[Waiting]:
    """Return what could not be scored, in the order of the log, locked until the transaction ends."""
    return [Waiting(*row) for row in await connection.fetch(_WAITING)]


async def still_waiting(connection: Connection, number: PostingNumber, error: Exception) -> None:
    """Note that an event could not be scored once more."""
    await connection.execute(_STILL_WAITING, number, f"{type(error).__name__}: {error}")


async def settle_waiting(connection: Connection, number: PostingNumber) -> None:
    """Let the number wait no more; its posting is written in the same transaction."""
    await connection.execute(_SETTLE_WAITING, number)


def _posting_row(booking: Booking) -> tuple[object, ...]:
    posting, event = booking.posting, booking.event
    kind, data = CODEC.encode(posting)
    return (
        posting.posting,
        event.position,
        event.hash.hex(),
        posting.table_id,
        posting.version,
        posting.hand if isinstance(posting, HandScored) else None,
        kind,
        event.recorded_at,
        data,
    )


def _entry_rows(posting: Posted) -> Sequence[tuple[object, ...]]:
    return [(posting.posting, entry.line, entry.account, entry.points) for entry in entries_of(posting)]
