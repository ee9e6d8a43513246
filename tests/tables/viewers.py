"""One viewer's side of a table's stream: what he received, and the table as he folds it from that alone."""

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Any

import msgspec
from google.protobuf.json_format import MessageToJson

from baohuang.eventlog import chain
from baohuang.eventlog.chain import PublicEvent, Tip
from baohuang.eventlog.port import Actor, StreamId, Version
from baohuang.gen.table.v1 import watch_pb2
from baohuang.rpc.event_messages import event_from_proto
from baohuang.rpc.messages import from_proto
from baohuang.rules.evolve import evolve
from baohuang.rules.state import Table
from tables.clients import Client

Response = watch_pb2.WatchTableResponse


class Viewer:
    """Watches a table from `version` on, with the state he had then; `received` are all messages, in order."""

    def __init__(self, client: Client, table_id: str, version: int = 0, table: Table | None = None) -> None:
        self.client = client
        self.table_id = table_id
        self.version = version
        self.table = table
        self.received: list[Response] = []
        self.opened = asyncio.Event()
        """Set once a message has come: what happens from then on comes over the open stream."""

    async def watch(self, until: Callable[[], bool]) -> None:
        """Read one stream until what is said holds, or to its end. Raises AioRpcError."""
        stream = self.client.watch(self.table_id, self.version or None)
        try:
            while not until():
                response = await stream.read()
                if not isinstance(response, Response):
                    return
                self.take(response)
        finally:
            stream.cancel()

    async def reach(self, version: int) -> None:
        """Read one stream up to a version."""
        await self.watch(lambda: self.version >= version)
        assert self.version == version

    def take(self, response: Response) -> None:
        """Fold one message in; a version that is not the next one is an error."""
        self.received.append(response)
        self.opened.set()
        match response.WhichOneof("message"):
            case "snapshot":
                assert response.snapshot.version >= self.version
                self.table, self.version = from_proto(response.snapshot, Table), response.snapshot.version
            case "update":
                assert response.update.version == self.version + 1
                self.table = evolve(self.table, event_from_proto(response.update.event))
                self.version = response.update.version
            case "heartbeat" | "reconnect" | "taken_over" | "hand_scored" | "fine_posted" | "fine_returned":
                pass
            case other:
                raise AssertionError(f"a message of no kind: {other}")

    @property
    def updates(self) -> list[watch_pb2.Update]:
        """The updates received."""
        return [response.update for response in self.received if response.HasField("update")]


def public_event(table_id: str, update: watch_pb2.Update) -> PublicEvent:
    """Make of an update what the chain is checked with, as its message's documentation says."""
    event = getattr(update.event, str(update.event.WhichOneof("event")))
    data = msgspec.json.decode(MessageToJson(event))
    data.pop("hidden", None)
    return PublicEvent(
        stream_id=StreamId(table_id),
        version=Version(update.version),
        type=update.type,
        data=msgspec.json.encode(data),
        actor=Actor(update.actor),
        recorded_at=datetime.fromisoformat(update.recorded_at),
        hidden_digest=update.hidden_digest,
        hash=update.hash,
    )


def follow(table_id: str, snapshot: Any, updates: list[watch_pb2.Update]) -> Tip:
    """Check the chain of the updates from a snapshot on. Raises ChainBroken."""
    tip = Tip(StreamId(table_id), Version(snapshot.version), snapshot.hash)
    return chain.verify_public(tip, (public_event(table_id, update) for update in updates))


async def first(client: Client, table_id: str, after_version: int | None = None) -> Response:
    """Return the first message of a new stream, and close it."""
    stream = client.watch(table_id, after_version)
    try:
        response = await stream.read()
        assert isinstance(response, Response), await stream.code()
        return response
    finally:
        stream.cancel()
