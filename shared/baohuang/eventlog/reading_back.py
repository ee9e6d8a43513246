"""Reading back in a table's stream: from the hand that a version belongs to."""

from collections.abc import Sequence
from typing import Final

from baohuang.eventlog.port import EventReader, StoredEvent, StreamId, Version

HAND_STARTED: Final = "HandStarted"
"""The event that carries the whole table: a rebuild begins at one."""
_ABOUT_A_HAND: Final = 512
"""More events than a hand has as a rule: how far to look back at first for its beginning."""


async def from_hand_of(log: EventReader, stream_id: StreamId, version: Version) -> Sequence[StoredEvent]:
    """Return the events from the beginning of the hand that the event of a version belongs to, to the stream's end.

    The first is a HandStarted of that version at the latest; TableOpened if no hand had begun by then. So the table as
    each event left it can be told. Raises LogUnavailable.
    """
    stored = await log.read_since_last(stream_id, HAND_STARTED)
    if not stored or _is_beginning(stored[0], version):
        return stored
    return (*await _back_from(log, stream_id, Version(stored[0].version - 1), version), *stored)


async def hand_until(log: EventReader, stream_id: StreamId, version: Version) -> Sequence[StoredEvent]:
    """Return the events from the beginning of the hand that the event of a version belongs to, up to that event.

    The first is as in `from_hand_of`. Costs the hand, not the stream. Raises LogUnavailable.
    """
    return await _back_from(log, stream_id, version, version)


async def _back_from(log: EventReader, stream_id: StreamId, last: Version, version: Version) -> Sequence[StoredEvent]:
    """Return the events up to `last` from the last beginning of a hand up to `version` on; all of them without one."""
    stored: Sequence[StoredEvent] = ()
    back = _ABOUT_A_HAND
    while last and not (stored and _is_beginning(stored[0], version)):
        first = max(0, last - back)
        earlier = await log.read_stream(stream_id, Version(first), last - first)
        stored = _from_beginning((*earlier, *stored), version)
        last, back = Version(first), back * 2
    return stored


def _from_beginning(stored: Sequence[StoredEvent], version: Version) -> Sequence[StoredEvent]:
    """Return the events from the last beginning of a hand up to that version on; all of them if there is none."""
    found = (index for index in range(len(stored) - 1, -1, -1) if _is_beginning(stored[index], version))
    return stored[next(found, 0) :]


def _is_beginning(event: StoredEvent, version: Version) -> bool:
    return event.version == 1 or (event.type == HAND_STARTED and event.version <= version)
