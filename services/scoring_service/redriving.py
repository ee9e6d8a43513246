"""What becomes of events that could not be scored: they are tried again, or an operator skips one.

Both take the event from the log's public view, and not from what the stream brought of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from baohuang.database.pool import Connection
from baohuang.eventlog.chain import instant
from baohuang.rules.state import Instant, TableId
from baohuang.scoring.events import PostingNumber, PostingSkipped
from baohuang.stream.port import Number
from baohuang.stream.public_log import settling_between
from baohuang.stream.table_messages import TableEvent, event_of
from scoring_service.ledger import (
    Booking,
    Waiting,
    book,
    lock_progress,
    scored,
    settle_waiting,
    still_waiting,
    waiting,
)
from scoring_service.scoring import UNSCORABLE
from scoring_service.settling import Unscorable


class NotWaiting(Exception):  # noqa: N818 (a finding)
    """No event waits under that number."""


@dataclass(frozen=True, slots=True)
class Redriven:
    """An event that was tried again: scored now, or why it still cannot be."""

    number: PostingNumber
    position: int
    error: str | None


async def redrive(connection: Connection) -> Sequence[Redriven]:
    """Try again to score what waits, in the order of the log; part of the caller's transaction."""
    await lock_progress(connection)
    return [await _redrive(connection, one) for one in await waiting(connection)]


async def skip(connection: Connection, number: PostingNumber, reason: str) -> PostingSkipped:
    """Leave a number's posting empty for ever, so that who follows the ledger goes on.

    Part of the caller's transaction. Raises NotWaiting; Unscorable if the log has another event than what waits.
    """
    await lock_progress(connection)
    for one in await waiting(connection):
        if one.number == number:
            return await _skip(connection, one, reason)
    raise NotWaiting(f"no event waits to be posting {number}")


async def _redrive(connection: Connection, one: Waiting) -> Redriven:
    try:
        async with connection.transaction():
            await book(connection, [scored(one.number, await _event(connection, one))])
            await settle_waiting(connection, one.number)
    except UNSCORABLE as error:
        await still_waiting(connection, one.number, error)
        return Redriven(one.number, one.position, str(error))
    return Redriven(one.number, one.position, None)


async def _skip(connection: Connection, one: Waiting, reason: str) -> PostingSkipped:
    event = await _event(connection, one)
    skipped = PostingSkipped(
        posting=one.number,
        table_id=TableId(event.stream_id),
        version=event.version,
        happened_at=Instant(instant(event.recorded_at)),
        reason=reason,
    )
    await book(connection, [Booking(skipped, event)])
    await settle_waiting(connection, one.number)
    return skipped


async def _event(connection: Connection, one: Waiting) -> TableEvent:
    found = await settling_between(connection, Number(one.position - 1), Number(one.position), 1)
    if not found or found[0].hash != one.hash:
        raise Unscorable(f"the log has another event at position {one.position} than the one that waits")
    return event_of(found[0])
