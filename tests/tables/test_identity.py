from typing import Any

import grpc
import pytest
from google.protobuf.message import Message
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from baohuang.gen.rules.v1 import rules_service_pb2
from baohuang.gen.table.v1 import table_service_pb2, watch_pb2
from baohuang.rules import commands as cmd
from table_service.wiring import SERVICES
from tables.clients import Client, act, open_table, ready, refusal, sit, stand
from tables.games import started
from tables.replicas import Replica


def methods() -> list[tuple[str, bool]]:
    """Return the path of every method of the service, and whether it streams."""
    services = (
        table_service_pb2.DESCRIPTOR.services_by_name["TableService"],
        rules_service_pb2.DESCRIPTOR.services_by_name["RulesService"],
    )
    return [(f"/{service.full_name}/{m.name}", m.server_streaming) for service in services for m in service.methods]


@pytest.mark.parametrize(("path", "streams"), methods())
@pytest.mark.parametrize("metadata", [(), (("baohuang-player", ""),), (("baohuang-player", "a b"),)])
async def test_nothing_is_answered_to_nobody(service: Replica, path: str, streams: bool, metadata: Any) -> None:  # noqa: FBT001
    """Without a sound identity every method of the contract is UNAUTHENTICATED, whatever is sent."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:  # noqa: PT012 - two kinds of one call
        if streams:
            await anext(aiter(service.channel.unary_stream(path, None, None)(b"", metadata=metadata, timeout=5)))
        else:
            await service.channel.unary_unary(path, None, None)(b"", metadata=metadata, timeout=5)
    refused = refusal(caught.value)
    assert (refused.code, refused.reason) == (grpc.StatusCode.UNAUTHENTICATED, "UNAUTHENTICATED")


async def test_health_and_reflection_are_open_to_all(service: Replica) -> None:
    """Who has no identity can still ask whether the service lives and what it offers."""
    health = health_pb2_grpc.HealthStub(service.channel)
    for name in SERVICES:
        reply = await health.Check(health_pb2.HealthCheckRequest(service=name))
        assert reply.status == health_pb2.HealthCheckResponse.SERVING
    ask = reflection_pb2.ServerReflectionRequest(list_services="*")
    async for reply in reflection_pb2_grpc.ServerReflectionStub(service.channel).ServerReflectionInfo(iter([ask])):
        listed = {found.name for found in reply.list_services_response.service}
    assert set(SERVICES) < listed


async def test_a_player_acts_for_his_own_seat_only(service: Replica) -> None:
    """Whoever is not the seat's player cannot stand up, get ready or move for it; he is told that he has no seat."""
    game = await started(service)
    turn = (await game.hand()).turn
    assert turn is not None
    stranger, before = Client(service.channel, "stranger"), await game.head()
    requests: tuple[Message, ...] = (stand(game.table_id), ready(game.table_id), act(game.table_id, cmd.Yield()))
    for request in requests:
        assert (await stranger.refused(request)).code is grpc.StatusCode.PERMISSION_DENIED
    assert await game.head() == before


async def test_a_role_opens_no_door_to_cards(service: Replica) -> None:
    """Until operators' methods exist, who calls himself operator or service sees what the public sees."""
    game = await started(service)
    for role in ("operator", "service"):
        client = Client(service.channel, "judge")
        client.metadata = (*client.metadata, ("baohuang-role", role))
        view = (await client.call(table_service_pb2.GetTableRequest(table_id=game.table_id))).table
        assert {card for held in view.hand.hands for card in held.cards} == {"??"}


async def test_the_caller_is_who_the_event_names(service: Replica) -> None:
    """What is stored and streamed as actor is the caller's identity."""
    opener = Client(service.channel, "opener")
    opened = await opener.call(open_table())
    await Client(service.channel, "sitter").call(sit(opened.table_id, 3))
    events = await service.log.read_stream(opened.table_id)
    assert [event.actor for event in events] == ["opener", "opener", "sitter"]
    assert opened.table.opened_by == "opener"
    stream = opener.watch(opened.table_id)
    assert (await anext(aiter(stream))).snapshot.seats[3].player == "sitter"
    stream.cancel()


async def test_a_watcher_without_identity_gets_no_stream(service: Replica) -> None:
    """WatchTable refuses before its first message."""
    game = await started(service)
    client = Client(service.channel, "nobody")
    client.metadata = (("baohuang-player", "no body"),)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await anext(aiter(client.start(watch_pb2.WatchTableRequest(table_id=game.table_id))))
    assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED
