import json
from datetime import UTC, datetime
from hashlib import sha256

import pytest
from google.protobuf import json_format

from baohuang.eventlog import chain
from baohuang.eventlog.codec import encode
from baohuang.eventlog.port import (
    NO_HASH,
    NO_POSITION,
    NO_VERSION,
    Actor,
    Append,
    NewEvent,
    RequestId,
    StoredEvent,
    StreamId,
)
from baohuang.gen.table.v1 import watch_pb2
from baohuang.rpc.event_messages import event_to_proto
from baohuang.rules.events import Event
from baohuang.rules.redact import Viewer, redact
from baohuang.rules.rulesets import Options
from baohuang.rules.state import ALL_SEATS
from contract.random_play import play

EVENTS = [event for step in play("homy-qingdao", Options(), seed=6, hands=1) for event in step.events]


def stored() -> tuple[StoredEvent, ...]:
    """Give the events of a hand as a log would keep them, each salted."""
    append = Append(
        StreamId("table"), NO_VERSION, NO_HASH, tuple(NewEvent(*encode(event)) for event in EVENTS),
        Actor("player-1"), RequestId("one"), b"", datetime(2026, 1, 31, 8, 5, 9, 123, UTC), b"{}",
    )  # fmt: skip
    salts = [number.to_bytes(chain.SALT_BYTES, "big") for number in range(len(EVENTS))]
    return chain.store(append, chain.link(append, salts), NO_POSITION)


def update_of(kept: StoredEvent, event: Event, viewer: Viewer) -> watch_pb2.Update:
    """Give what a viewer is sent of an event."""
    return watch_pb2.Update(
        version=kept.version,
        hash=kept.hash,
        hidden_digest=chain.publish(kept).hidden_digest,
        recorded_at=chain.instant(kept.recorded_at),
        actor=kept.actor,
        type=kept.type,
        event=event_to_proto(redact(event, viewer, hand_over=False)),
    )


def documented_hash(previous: bytes, update: watch_pb2.Update) -> bytes:
    """Compute an event's hash as the contract tells a client to, with nothing of this project's but the message."""
    data = json_format.MessageToDict(getattr(update.event, update.event.WhichOneof("event") or ""))
    data.pop("hidden", None)
    public = {
        "actor": update.actor,
        "data": data,
        "recordedAt": update.recorded_at,
        "stream": "table",
        "type": update.type,
        "version": update.version,
    }
    text = json.dumps(public, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return sha256(previous + sha256(text.encode()).digest() + update.hidden_digest).digest()


@pytest.mark.parametrize("viewer", [None, *ALL_SEATS])
def test_every_viewer_can_check_the_chain_as_documented(viewer: Viewer) -> None:
    """The hashes follow from what a viewer is shown, whatever was hidden from him and whatever he was shown alone."""
    previous = bytes(32)
    for kept, event in zip(stored(), EVENTS, strict=True):
        update = update_of(kept, event, viewer)
        assert documented_hash(previous, update) == update.hash, update.type
        previous = update.hash


def test_another_public_word_is_another_hash() -> None:
    """The check is not vacuous: a changed event does not have the hash it was sent with."""
    (kept, *_), (event, *_) = stored(), EVENTS
    update = update_of(kept, event, None)
    update.event.table_opened.opened_by = "somebody else"
    assert documented_hash(bytes(32), update) != update.hash
