"""The events of the log that points follow from, out of the messages that carry them."""

from dataclasses import dataclass

from baohuang.eventlog.chain import instant
from baohuang.eventlog.codec import decode
from baohuang.eventlog.json_codec import CodecError
from baohuang.rules.events import FineReversed, HandFinished, PlayerFined, VoidReversed
from baohuang.rules.state import Instant, TableId
from baohuang.stream.table_messages import TableEvent

Settles = HandFinished | PlayerFined | FineReversed | VoidReversed


class Unscorable(ValueError):  # noqa: N818 (a finding about an event)
    """An event whose points cannot be computed, or are not those it says; its text tells why."""


@dataclass(frozen=True, slots=True)
class Settling:
    """An event of a table that points follow from, and where and when it happened."""

    table_id: TableId
    version: int
    happened_at: Instant
    event: Settles


def settling_of(event: TableEvent) -> Settling:
    """Return what an event of the log settles. Raises Unscorable for one that settles nothing."""
    try:
        found = decode(event.type, event.data)
    except CodecError as error:
        raise Unscorable(str(error)) from error
    if not isinstance(found, Settles):
        raise Unscorable(f"no points follow from {event.type}")
    return Settling(TableId(event.stream_id), event.version, Instant(instant(event.recorded_at)), found)
