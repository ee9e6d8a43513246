"""Events that this release cannot read are told all the same, as far as it can: what they are, and their place."""

from datetime import UTC, datetime

import pytest

from baohuang.eventlog.port import Actor, Position, RequestId, StoredEvent, StreamId, Version
from baohuang.gen.history.v1 import history_service_pb2 as pb
from baohuang.history.sought import StoredRuling
from table_service.history.listing import SeenEvent, SeenRuling
from table_service.history.messages import event_message, ruling_message
from table_service.history.sight import EVERYTHING

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


def stored(event_type: str, data: bytes) -> StoredEvent:
    """Return an event of the log."""
    return StoredEvent(
        Position(7), StreamId("table"), Version(3), event_type, data, Actor("an"), RequestId("one"), NOON, bytes(16),
        bytes(32),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("event_type", "data"),
    [("SomethingNewer", b'{"seat": 1}'), ("CardsPlayed", b'{"seat": "one"}'), ("CardsPlayed", b"[]")],
)
def test_an_event_that_cannot_be_read(event_type: str, data: bytes) -> None:
    """Its type, place, actor and hash; no content."""
    message = event_message(SeenEvent(stored(event_type, data), EVERYTHING))
    assert not message.HasField("event")
    assert (message.position, message.table_id, message.version, message.type) == (7, "table", 3, event_type)
    assert (message.recorded_at, message.actor, message.hash) == ("2026-05-04T12:00:00.000000Z", "an", bytes(32))


def test_a_ruling_that_cannot_be_read() -> None:
    """It is listed, as an event and no more."""
    ruling = StoredRuling(stored("PlayerFined", b'{"seat": "one"}'), (), None)
    message = ruling_message(SeenRuling(ruling, EVERYTHING))
    assert (message.recorded.type, message.clause) == ("PlayerFined", "")
    assert message == pb.Ruling(recorded=message.recorded)
