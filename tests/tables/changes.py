"""One legal request of every method that changes something, with a table in a state that allows it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

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


CHANGES: dict[str, Callable[[Replica], Awaitable[Change]]] = {
    "OpenTable": _opening,
    "SitDown": _sitting,
    "StandUp": _standing,
    "SetReady": _getting_ready,
    "SetReady, the fifth": _starting,
    "Act": _acting,
}
