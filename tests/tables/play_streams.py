"""A client's side of a Play stream: commands in, answers and table messages out, told apart."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Any, Final

import grpc
from google.protobuf.message import Message

from baohuang.gen.table.v1 import play_pb2, watch_pb2
from baohuang.gen.table.v1 import table_service_pb2 as pb
from tables.clients import SECONDS, Refused

FIELDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        field.message_type.full_name: field.name
        for field in pb.PlayRequest.DESCRIPTOR.oneofs_by_name["message"].fields
        if field.message_type
    }
)
"""The field of a PlayRequest that holds a message, by the message's type."""
_METHOD: Final = "/baohuang.table.v1.TableService/Play"
Encode = Callable[[Any], bytes]
_CODES: Final = {code.value[0]: code for code in grpc.StatusCode}
Answer = play_pb2.Accepted | play_pb2.Refused


class PlayStream:
    """One open stream. `heard` are its table messages by table, in order; `answers` those to commands, in order."""

    def __init__(
        self, channel: grpc.aio.Channel, player: str, encode: Encode = pb.PlayRequest.SerializeToString
    ) -> None:
        play: Any = channel.stream_stream(_METHOD, encode, play_pb2.PlayResponse.FromString)
        self.call = play(metadata=(("baohuang-player", player),), timeout=SECONDS)
        self.answers: list[Answer] = []
        self.heard: dict[str, list[watch_pb2.WatchTableResponse]] = {}
        self.heartbeats = 0
        self.reconnect: play_pb2.PlayReconnect | None = None

    async def send(self, *messages: Message) -> None:
        """Send requests of calls, Watches and Unwatches."""
        for message in messages:
            await self.call.write(pb.PlayRequest(**{FIELDS[message.DESCRIPTOR.full_name]: message}))  # type: ignore[arg-type] # by name

    async def ask(self, message: Message) -> Answer:
        """Send a command and read up to its answer."""
        before = len(self.answers)
        await self.send(message)
        await self.read_until(lambda: len(self.answers) > before)
        return self.answers[-1]

    async def read_until(self, done: Any) -> None:
        """Read until something holds. Raises AioRpcError; EOFError at the end of the stream."""
        while not done():
            await self._read()

    async def next_of(self, table_id: str) -> watch_pb2.WatchTableResponse:
        """Read up to the table's next message, and take it out of those heard."""
        await self.read_until(lambda: self.heard.get(table_id))
        return self.heard[table_id].pop(0)

    async def to_the_end(self) -> grpc.StatusCode:
        """Read what comes up to the end and return how it ended."""
        try:
            await self.read_until(lambda: False)
        except EOFError:
            pass
        except grpc.aio.AioRpcError as error:
            return error.code()
        code: grpc.StatusCode = await self.call.code()
        return code

    def versions(self, table_id: str) -> list[int]:
        """Return the versions of the updates heard of a table."""
        return [message.update.version for message in self.heard.get(table_id, []) if message.HasField("update")]

    async def _read(self) -> None:
        message = await self.call.read()
        if message is grpc.aio.EOF:  # type: ignore[attr-defined] # missing in the stubs
            raise EOFError
        match message.WhichOneof("message"):
            case "accepted":
                self.answers.append(message.accepted)
            case "refused":
                self.answers.append(message.refused)
            case "table":
                self.heard.setdefault(message.table.table_id, []).append(message.table.message)
            case "heartbeat":
                self.heartbeats += 1
            case "reconnect":
                self.reconnect = message.reconnect
            case other:
                raise AssertionError(f"a message of no kind: {other}")


@asynccontextmanager
async def playing(
    channel: grpc.aio.Channel, player: str, encode: Encode = pb.PlayRequest.SerializeToString
) -> AsyncIterator[PlayStream]:
    """Open a stream, cancelled at the end of the block; `encode` makes bytes of what is written."""
    stream = PlayStream(channel, player, encode)
    try:
        yield stream
    finally:
        stream.call.cancel()


@asynccontextmanager
async def all_playing(channel: grpc.aio.Channel, players: Sequence[str]) -> AsyncIterator[dict[str, PlayStream]]:
    """Open a stream for each player, cancelled at the end of the block."""
    streams = {player: PlayStream(channel, player) for player in players}
    try:
        yield streams
    finally:
        for stream in streams.values():
            stream.call.cancel()


async def ended(stream: PlayStream) -> grpc.StatusCode:
    """Wait for the end of a stream and return how it ended."""
    return await asyncio.wait_for(stream.to_the_end(), SECONDS)


def as_call(refused: play_pb2.Refused) -> Refused:
    """Return a refusal in the form in which a failed call is read."""
    fields = tuple(violation.field for violation in refused.field_violations)
    return Refused(_CODES[refused.code], refused.reason, "baohuang", dict(refused.metadata), fields, refused.message)


def watch(table_id: str, after_version: int | None = None) -> play_pb2.Watch:
    """Ask for a table's messages."""
    return play_pb2.Watch(table_id=table_id, after_version=after_version)
