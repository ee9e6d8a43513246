"""One legal request of every method that changes something, with a table in a state that allows it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from baohuang.gen.history.v1 import history_service_pb2
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.rules import commands as cmd
from tables.clients import Changing, Client, act, fresh, open_table, ready, sit, stand
from tables.games import PLAYERS, Game, opened, seated, started
from tables.replicas import Replica


@dataclass(frozen=True, slots=True)
class Change:
    """A request that would be accepted now, who makes it, and at which table (any, for OpenTable)."""

    client: Client
    request: Changing
    game: Game


def company() -> list[str]:
    """Make up five players, who play nowhere else: each is in one hand at a time (FINE-6)."""
    return [f"{player}-{fresh()}" for player in PLAYERS]


async def _opening(replica: Replica) -> Change:
    game = await opened(replica, players=company())
    return Change(game.clients[0], open_table(), game)


async def _sitting(replica: Replica) -> Change:
    game = await opened(replica, players=company())
    return Change(game.clients[0], sit(game.table_id, 0), game)


async def _standing(replica: Replica) -> Change:
    game = await seated(replica, players=company())
    return Change(game.clients[0], stand(game.table_id), game)


async def _getting_ready(replica: Replica) -> Change:
    game = await seated(replica, players=company())
    return Change(game.clients[0], ready(game.table_id, "entropy"), game)


async def _starting(replica: Replica) -> Change:
    """Get the fifth player ready: one request, many events."""
    game = await seated(replica, players=company())
    for client in game.clients[:4]:
        await client.call(ready(game.table_id))
    return Change(game.clients[4], ready(game.table_id), game)


async def _acting(replica: Replica) -> Change:
    game = await started(replica, players=company())
    turn = (await game.hand()).turn
    assert turn is not None
    return Change(game.clients[turn], act(game.table_id, cmd.Yield()), game)


async def _in_hand(replica: Replica, request: Callable[[str], Changing], client: Client | None = None) -> Change:
    game = await started(replica, players=company())
    return Change(client or game.clients[3], request(game.table_id), game)


async def _asking_for_the_trustee(replica: Replica) -> Change:
    return await _in_hand(
        replica, lambda table_id: pb.SetTrusteeshipRequest(request_id=fresh(), table_id=table_id, active=True)
    )


async def _leaving(replica: Replica) -> Change:
    return await _in_hand(replica, lambda table_id: pb.LeaveTableRequest(request_id=fresh(), table_id=table_id))


async def _forfeiting(replica: Replica) -> Change:
    return await _in_hand(replica, lambda table_id: pb.ForfeitSeatRequest(request_id=fresh(), table_id=table_id))


async def _kicking(replica: Replica) -> Change:
    return await _in_hand(
        replica,
        lambda table_id: pb.KickPlayerRequest(request_id=fresh(), table_id=table_id, seat=2),
        operator(replica),
    )


async def _voiding(replica: Replica) -> Change:
    return await _in_hand(
        replica,
        lambda table_id: pb.VoidHandRequest(request_id=fresh(), table_id=table_id, reason="a test"),
        operator(replica),
    )


async def _closing(replica: Replica) -> Change:
    game = await seated(replica, players=company())
    request = pb.CloseTableRequest(request_id=fresh(), table_id=game.table_id, reason="a test")
    return Change(operator(replica), request, game)


async def _banning(replica: Replica) -> Change:
    game = await opened(replica, players=company())
    request = pb.SetBanRequest(request_id=fresh(), player=f"bad-{fresh()}", banned=True, reason="a test")
    return Change(operator(replica), request, game)


async def _reversing(replica: Replica) -> Change:
    game = await started(replica, players=company())
    fined = await fine(game)
    request = history_service_pb2.ReverseRulingRequest(
        request_id=fresh(), table_id=game.table_id, version=fined, reason="a test"
    )
    return Change(operator(replica), request, game)


async def fine(game: Game, seat: int = 3) -> int:
    """Have a player forfeit his seat, and return the version of the fine."""
    await game.clients[seat].call(pb.ForfeitSeatRequest(request_id=fresh(), table_id=game.table_id))
    return (await game.hand()).reversible[-1].version


def operator(replica: Replica) -> Client:
    """Return an operator's client."""
    client = Client(replica.channel, "olga")
    client.metadata = (*client.metadata, ("baohuang-role", "operator"))
    return client


def outcome_of(reply: Any) -> tuple[str, int, bytes]:
    """Return what an outcome is known by: stream, version and hash of the last event."""
    stream_id = reply.table_id if hasattr(reply, "table_id") else f"player:{reply.player}"
    return stream_id, reply.version, reply.hash


CHANGES: dict[str, Callable[[Replica], Awaitable[Change]]] = {
    "OpenTable": _opening,
    "SitDown": _sitting,
    "StandUp": _standing,
    "SetReady": _getting_ready,
    "SetReady, the fifth": _starting,
    "Act": _acting,
    "SetTrusteeship": _asking_for_the_trustee,
    "LeaveTable": _leaving,
    "ForfeitSeat": _forfeiting,
    "KickPlayer": _kicking,
    "VoidHand": _voiding,
    "CloseTable": _closing,
    "SetBan": _banning,
    "ReverseRuling": _reversing,
}
