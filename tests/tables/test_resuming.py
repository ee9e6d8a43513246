import asyncio

from baohuang.eventlog.codec import decode
from baohuang.rules.evolve import evolve
from baohuang.rules.redact import Viewer as Seat
from baohuang.rules.redact import mask
from baohuang.rules.state import ALL_SEATS, Table
from bench.random_player import chance_of
from tables.changes import operator
from tables.clients import Client
from tables.games import Game, seated
from tables.replicas import Replica
from tables.viewers import Viewer

EVENTS = 80


async def test_resume_from_every_version_as_everybody(service: Replica) -> None:
    """From each version of a table into the tricks of its hand, as each seat, as a spectator and as an operator.

    What is missed is sent once and in order, or a snapshot instead of it; it brings what he had to what he may see now.
    """
    game, chance = await seated(service, "homy-weihai"), chance_of("everybody")
    await game.all_ready()
    while (await game.head()).version < EVENTS:
        await game.step(chance)
    states = await history(game)
    people: list[tuple[Client, Seat]] = [*zip(game.clients, ALL_SEATS, strict=True)]
    people += [(Client(service.channel, "spectator"), None), (operator(service), None)]
    await asyncio.gather(*(resume_from_everywhere(client, seat, game.table_id, states) for client, seat in people))


async def resume_from_everywhere(client: Client, seat: Seat, table_id: str, states: list[Table | None]) -> None:
    """Come back with each version there was, one stream after the other: a seat has one at a time."""
    goal, end = len(states) - 1, states[-1]
    assert end is not None
    for version, table in enumerate(states[:-1]):
        viewer = Viewer(client, table_id, version, mask(table, seat) if table else None)
        await viewer.reach(goal)
        assert viewer.table == mask(end, seat), (client.player, version)
        kinds = {response.WhichOneof("message") for response in viewer.received}
        assert kinds == ({"update"} if version else {"snapshot"})
        assert len(viewer.received) == (goal - version if version else 1)


async def history(game: Game) -> list[Table | None]:
    """Return the table at every version, beginning with none."""
    states: list[Table | None] = [None]
    for stored in await game.events():
        states.append(evolve(states[-1], decode(stored.type, stored.data)))
    return states
