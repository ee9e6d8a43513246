"""Scoring what the log brings, in its order, each event once: what the consumer and a rebuild have applied.

The consumer sees to order, to redelivery and to hashes that changed (`baohuang.stream.applying`); here each event gets
its number, and one that cannot be scored keeps it and goes on waiting, visibly, while the others go on.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import structlog

from baohuang.database.pool import Connection
from baohuang.eventlog.port import Position
from baohuang.stream.applying import POISON
from baohuang.stream.port import Message, Unprocessable
from baohuang.stream.table_messages import event_of
from baohuang.tracing.carried import TRACEPARENT
from scoring_service.ledger import Booking, Progress, advance, book, lock_progress, put_aside, scored

UNSCORABLE: Final = POISON
"""What says that this event cannot be scored; a bug of ours too, or the event would have no number."""
NoteTrace = Callable[[Iterable[int], str], None]
"""Is told the traceparent that postings belong to, by their numbers, before they are committed."""
_log = structlog.get_logger("scoring_service")


def _no_trace(_numbers: Iterable[int], _traceparent: str) -> None:
    """Do nothing."""


async def score(connection: Connection, messages: Sequence[Message], note_trace: NoteTrace = _no_trace) -> None:
    """Write the postings of messages, which come in the order of the log: an `Apply` of the consumer's.

    Several are scored together or not at all, which raises what the first failure raised. One alone is put aside if it
    cannot be scored, and keeps its number.
    """
    before = await lock_progress(connection)
    places = _places(before, messages)
    for place, message in zip(places, messages, strict=True):
        if traceparent := message.headers.get(TRACEPARENT):
            note_trace([place.number], traceparent)
    if len(messages) == 1:
        await _book_or_put_aside(connection, places[0], messages[0])
    else:
        await book(connection, [_scored(place, message) for place, message in zip(places, messages, strict=True)])
    await advance(connection, places[-1] if places else before)


def _places(progress: Progress, messages: Sequence[Message]) -> Sequence[Progress]:
    """Return the number and position of each message. Raises Unprocessable for one that comes after later ones."""
    places: list[Progress] = []
    for message in messages:
        if message.number <= progress.position:
            raise Unprocessable(f"message {message.number} comes after {progress.position} was scored")
        progress = progress.next(Position(message.number))
        places.append(progress)
    return places


def _scored(place: Progress, message: Message) -> Booking:
    return scored(place.number, event_of(message))


async def _book_or_put_aside(connection: Connection, place: Progress, message: Message) -> None:
    event_hash = message.hash
    try:
        async with connection.transaction():
            await book(connection, [_scored(place, message)])
    except UNSCORABLE as error:
        _log.error("event cannot be scored", position=place.position, posting=place.number, error=str(error))
        await put_aside(connection, place, event_hash, error)
