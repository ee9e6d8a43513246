from collections.abc import AsyncIterator
from random import Random
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from baohuang.eventlog import chain
from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import StreamId
from baohuang.gen.rules.v1 import rules_service_pb2
from baohuang.gen.table.v1 import table_service_pb2
from baohuang.rules import commands as cmd
from baohuang.rules.cards import Card
from bench.random_player import chance_of
from table_service.wiring import Limits
from tables.clients import act, ready, refusal, sit, stand
from tables.games import PLAYERS, opened, seated, started
from tables.messages import TABLES, message
from tables.replicas import Replica, replica

METHODS = (
    *table_service_pb2.DESCRIPTOR.services_by_name["TableService"].methods,
    *rules_service_pb2.DESCRIPTOR.services_by_name["RulesService"].methods,
)
CHANGING = {method.name for method in METHODS if "request_id" in method.input_type.fields_by_name}
CLEAR = {
    grpc.StatusCode.OK,
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.PERMISSION_DENIED,
}
Sent = tuple[MethodDescriptor, str, Message]


class Fuzzed:
    """A service and its tables: one open, one full, one in the middle of a hand."""

    def __init__(self, service: Replica, log: MemoryLog, tables: list[str]) -> None:
        self.log = log
        self.tables = tables
        self._channel = service.channel

    async def check(self, method: MethodDescriptor, player: str, raw: bytes) -> None:
        """Send a request and check that its status is clear, and that nothing is stored that should not be."""
        before = len(self.log._events)
        code, reason = await self._call(method, player, raw)
        assert code in CLEAR, (method.name, raw, reason)
        assert (code is grpc.StatusCode.OK) == (reason == "")
        assert len(self.log._events) == before or (code is grpc.StatusCode.OK and method.name in CHANGING)

    async def check_chains(self) -> None:
        """Check the chains of the tables."""
        for table_id in map(StreamId, self.tables):
            chain.verify(chain.start(table_id), await self.log.read_stream(table_id, limit=100_000))

    async def _call(self, method: MethodDescriptor, player: str, raw: bytes) -> tuple[grpc.StatusCode, str]:
        path = f"/{method.containing_service.full_name}/{method.name}"
        options: dict[str, Any] = {"metadata": (("baohuang-player", player),), "timeout": 10}
        try:
            if method.server_streaming:
                stream = self._channel.unary_stream(path, None, None)(raw, **options)
                await anext(aiter(stream))
                stream.cancel()
            else:
                await self._channel.unary_unary(path, None, None)(raw, **options)
        except grpc.aio.AioRpcError as error:
            return error.code(), refusal(error).reason or "no reason"
        return grpc.StatusCode.OK, ""

    def located(self, payload: Message) -> Message:
        """Put the id of one of the tables where the message names one by its number."""
        table_id = getattr(payload, "table_id", "")
        if table_id in TABLES:
            payload = type(payload).FromString(payload.SerializeToString())
            payload.table_id = self.tables[TABLES.index(table_id)]  # type: ignore[attr-defined]
        return payload


@pytest.fixture
async def fuzzed(log: MemoryLog) -> AsyncIterator[Fuzzed]:
    """Give such a service, whose idle streams beat at once."""
    async with replica(log, Limits(heartbeat_seconds=0.01)) as service:
        games = [await opened(service), await seated(service), await started(service)]
        yield Fuzzed(service, log, [game.table_id for game in games])


def requests() -> st.SearchStrategy[Sent]:
    """Return a method, a caller, and any message of the method's type."""
    return st.sampled_from(METHODS).flatmap(
        lambda method: st.tuples(
            st.just(method),
            st.sampled_from((*PLAYERS, "stranger")),
            message(method.input_type),
        )
    )


@settings(
    max_examples=50,
    deadline=None,
    derandomize=True,
    # Every example is a conversation with a live service: shrinking one takes minutes and tells little more.
    phases=[Phase.generate],
    # One service for all examples: that they meet in every state is what is wanted.
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.lists(requests(), min_size=15, max_size=30))
async def test_any_request_gets_a_clear_answer(fuzzed: Fuzzed, sent: list[Sent]) -> None:
    """Whatever is sent by whomever in whatever state: a documented status, never INTERNAL.

    Without OK nothing was stored, and nothing by a method that only asks; the chains are right at all times.
    """
    for method, player, payload in sent:
        await fuzzed.check(method, player, fuzzed.located(payload).SerializeToString())
    await fuzzed.check_chains()


async def test_damaged_messages_get_a_clear_answer(fuzzed: Fuzzed) -> None:
    """The same for bytes: messages of every method cut, added to, changed in places, and no messages at all."""
    chance = chance_of("damage")
    for _ in range(150):
        for method in METHODS:
            sound = fuzzed.located(message_of(method)).SerializeToString()
            await fuzzed.check(method, chance.choice(PLAYERS), damaged(sound, chance))
    await fuzzed.check_chains()


def message_of(method: MethodDescriptor) -> Message:
    """Return a sound message of the method."""
    sound = {
        "OpenTable": table_service_pb2.OpenTableRequest(request_id="r", ruleset="ourgame-simple"),
        "SitDown": sit(TABLES[0], 2),
        "StandUp": stand(TABLES[1]),
        "SetReady": ready(TABLES[1], "entropy"),
        "Act": act(TABLES[2], cmd.Play((Card("9h"), Card("BJ*")))),
        "Settle": rules_service_pb2.SettleRequest(ruleset="homy-standard", emperor=1, guard=2, places=range(5)),
        "CheckPlay": rules_service_pb2.CheckPlayRequest(ruleset="homy-standard", hand=["9h"], play=["9h"]),
        "ListLegalPlays": rules_service_pb2.ListLegalPlaysRequest(ruleset="homy-standard", hand=["9h", "SJ"]),
    }
    if method.name in sound:
        return sound[method.name]
    fields = {"table_id": TABLES[2]} if "table_id" in method.input_type.fields_by_name else {}
    return GetMessageClass(method.input_type)(**fields)


def damaged(sound: bytes, chance: Random) -> bytes:
    """Return the bytes with one to three of them changed, or cut, or something added, or something else altogether."""
    broken = bytearray(sound)
    for _ in range(chance.randint(1, 3)):
        if broken:
            broken[chance.randrange(len(broken))] = chance.randrange(256)
    cut = chance.randint(0, len(broken))
    added = chance.randbytes(chance.randint(1, 40))
    return chance.choice((bytes(broken), bytes(broken[:cut]), bytes(broken[:cut]) + added, sound + added, added))
