from collections.abc import Awaitable, Callable

import grpc
from google.protobuf.message import Message

from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import EventLog
from baohuang.gen.table.v1 import play_pb2
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.rules.phases.asking import seats_to_act
from bench.random_player import chance_of, choose
from tables.clients import Client, act, refusal
from tables.games import PLAYERS, Game
from tables.play_streams import PlayStream, all_playing, as_call
from tables.replicas import Replica, replica

Told = tuple[object, ...]
Ask = Callable[[str, Message], Awaitable[Told]]


async def _by_call(service: Replica, player: str, request: Message) -> Told:
    try:
        reply = await Client(service.channel, player).call(request)
    except grpc.aio.AioRpcError as error:
        refused = refusal(error)
        return (refused.code, refused.reason, sorted(refused.metadata.items()), refused.fields, refused.message)
    return (reply.table_id, reply.version, len(reply.hash))


async def _by_stream(streams: dict[str, PlayStream], player: str, request: Message) -> Told:
    answer = await streams[player].ask(request)
    assert answer.request_id == request.request_id  # type: ignore[attr-defined] # every command has one
    if isinstance(answer, play_pb2.Accepted):
        return (answer.table_id, answer.version, len(answer.hash))
    assert answer.table_id == getattr(request, "table_id", "")
    refused = as_call(answer)
    return (refused.code, refused.reason, sorted(refused.metadata.items()), refused.fields, refused.message)


async def _course(ask: Ask, log: EventLog) -> list[Told]:
    """Send every command of a player, good and bad, and a hand; return what each came to, the table's id left out."""
    opened = await ask("an", pb.OpenTableRequest(request_id="open", ruleset="ourgame-simple"))
    table_id = str(opened[0])
    game = Game(log, table_id, [])
    told = [opened]

    async def send(player: str, request: Message) -> None:
        told.append(await ask(player, request))

    for player, request in _before_the_hand(table_id):
        await send(player, request)
    for number, player in enumerate(PLAYERS):
        await send(player, pb.SetReadyRequest(request_id=f"go-{number}", table_id=table_id, ready=True))
    chance = chance_of("both ways")
    for number in range(60):
        hand, table = await game.hand(), await game.table()
        seat = seats_to_act(hand)[0]
        request = act(table_id, choose(table, seat, chance))
        request.request_id = f"move-{number}"
        await send(PLAYERS[(seat + 1) % 5], request)
        await send(PLAYERS[seat], request)
        await send(PLAYERS[seat], request)
    for player, request in _in_the_hand(table_id):
        await send(player, request)
    return [tuple(str(part).replace(table_id, "<table>") for part in one) for one in told]


def _before_the_hand(table_id: str) -> list[tuple[str, Message]]:
    nowhere = "01980000-0000-7000-8000-000000000000"
    return [
        ("an", pb.OpenTableRequest(request_id="x", ruleset="no-such")),
        ("an", pb.OpenTableRequest(request_id="", ruleset="ourgame-simple")),
        ("an", pb.SitDownRequest(request_id="a", table_id=table_id, seat=7)),
        ("an", pb.SitDownRequest(request_id="a", table_id="not-an-id", seat=0)),
        ("an", pb.SitDownRequest(request_id="a", table_id=nowhere, seat=0)),
        ("an", pb.SitDownRequest(request_id="b" * 65, table_id=table_id, seat=0)),
        ("an", pb.SitDownRequest(request_id="a", table_id=table_id, seat=0, expected_version=9)),
        ("an", pb.SitDownRequest(request_id="a", table_id=table_id, seat=0)),
        ("an", pb.SitDownRequest(request_id="a", table_id=table_id, seat=1)),
        ("bo", pb.SitDownRequest(request_id="a", table_id=table_id, seat=0)),
        ("an", pb.StandUpRequest(request_id="up", table_id=table_id)),
        ("an", pb.StandUpRequest(request_id="again", table_id=table_id)),
        ("an", pb.SetReadyRequest(request_id="r", table_id=table_id, ready=True, entropy="x" * 100)),
        ("an", pb.SetReadyRequest(request_id="r", table_id=table_id, ready=True, entropy="a\0b")),
        ("an", pb.ActRequest(request_id="m", table_id=table_id)),
        *(
            (player, pb.SitDownRequest(request_id="sit", table_id=table_id, seat=seat))
            for seat, player in enumerate(PLAYERS)
        ),
    ]


def _in_the_hand(table_id: str) -> list[tuple[str, Message]]:
    return [
        ("an", pb.SetTrusteeshipRequest(request_id="t", active=True, table_id=table_id)),
        ("an", pb.SetTrusteeshipRequest(request_id="t", active=True, table_id=table_id)),
        ("an", pb.SetTrusteeshipRequest(request_id="u", active=True, table_id=table_id)),
        ("an", pb.SetTrusteeshipRequest(request_id="v", active=False, table_id=table_id)),
        ("bo", pb.LeaveTableRequest(request_id="l", table_id=table_id)),
        ("cai", pb.ForfeitSeatRequest(request_id="f", table_id=table_id)),
        ("cai", pb.ForfeitSeatRequest(request_id="g", table_id=table_id)),
    ]


async def test_every_command_comes_to_the_same_by_call_and_by_stream() -> None:
    """Outcomes, refusals with all their details, and the events in the log are the same, retries included."""
    by_call, by_stream = MemoryLog(), MemoryLog()
    async with replica(by_call) as calls, replica(by_stream) as plays, all_playing(plays.channel, PLAYERS) as streams:
        here = await _course(lambda player, request: _by_call(calls, player, request), by_call)
        there = await _course(lambda player, request: _by_stream(streams, player, request), by_stream)
    assert here == there
    assert len({one[0] for one in here if str(one[0]).startswith("StatusCode")}) >= 5
    logs = [
        [(event.version, event.type, event.actor, event.request_id) for event in await log.read_all()]
        for log in (by_call, by_stream)
    ]
    assert logs[0] == logs[1]


def test_every_call_for_players_has_a_place_in_the_stream() -> None:
    """Each mutating request of the service but the operators' is a kind of PlayRequest."""
    service = pb.DESCRIPTOR.services_by_name["TableService"]
    mutating = {
        method.input_type.name for method in service.methods if "request_id" in method.input_type.fields_by_name
    }
    operators = {"KickPlayerRequest", "VoidHandRequest", "CloseTableRequest", "SetBanRequest"}
    fields = pb.PlayRequest.DESCRIPTOR.fields
    assert {field.message_type.name for field in fields if field.message_type} == mutating - operators | {
        "Watch",
        "Unwatch",
    }
