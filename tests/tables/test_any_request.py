"""Ten thousand requests that nobody would send: every method, whoever calls, whatever it holds."""

import math
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from random import Random
from typing import Final

import grpc
import pytest
from google.protobuf.descriptor import MethodDescriptor
from structlog.testing import capture_logs

from baohuang.eventlog import chain
from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import StreamId
from baohuang.rules.phases.asking import seats_to_act
from baohuang.rules.state import ALL_SEATS, Phase, in_progress
from bench.random_player import chance_of, choose
from table_service.wiring import Limits
from tables.clients import act
from tables.fuzzing import Shot, fire_all, methods_of
from tables.games import Game, opened, seated, started
from tables.messages import AnyMessage
from tables.replicas import Replica, replica
from tables.shooting import Shooting, caller_of, check

REQUESTS: Final = 5_000
SHARES: Final = (0, 1)
"""Two halves, so that test processes can share them."""
BATCH: Final = 125
"""Calls at once: they meet in every state."""
TABLES: Final = 4
DECIDED: Final = (grpc.StatusCode.OK, grpc.StatusCode.FAILED_PRECONDITION)
"""What only a sound request comes to."""


class Fuzzed:
    """A service and its tables: one open, one full, one at the beginning of a hand, one in the middle of one."""

    def __init__(self, service: Replica, log: MemoryLog, methods: list[MethodDescriptor], share: int) -> None:
        self.service = service
        self.log = log
        self.methods = methods
        self.statuses: Counter[tuple[str, grpc.StatusCode]] = Counter()
        self.games: list[Game] = []
        self._dice = chance_of("any request", share)
        self._made_before = 0
        self._making = AnyMessage(self._dice, [])
        self._shooting = Shooting(self._dice, self._making, methods)

    async def prepare(self) -> None:
        """Make the tables, or make anew those that are over."""
        for place in range(TABLES):
            if place == len(self.games):
                self.games.append(await self._made(place))
            elif not await is_alive(self.games[place], between_hands=place < 2):
                self.games[place] = await self._made(place)
        self._making.table_ids = [game.table_id for game in self.games]
        self._shooting.players = [client.player for game in self.games for client in game.clients]

    async def _made(self, place: int) -> Game:
        """Make a table, for players who sit at no other."""
        self._made_before += 1
        players = [f"p{self._made_before}-{seat}" for seat in ALL_SEATS]
        match place:
            case 0:
                return await opened(self.service, players=players)
            case 1:
                return await seated(self.service, "homy-classic", players)
            case 2:
                return await started(self.service, "ourgame-classic", players)
            case _:
                return await in_play(self.service, players, self._dice)

    async def volley(self, count: int) -> None:
        """Send so many requests at once, legal moves among them, and check what became of each and of the log."""
        shots = [*[await self._legal(game) for game in self.games[2:]], *[self._shooting.shot() for _ in range(count)]]
        before = len(self.log._events)
        results = await fire_all(self.service.channel, shots)
        accepted = set()
        for shot, result in zip(shots, results, strict=True):
            check(shot, result)
            self.statuses[shot.method.name, result.code] += 1
            accepted |= {(caller_of(shot), request_id) for request_id in result.accepted}
        stored = {(one.actor, one.request_id) for one in self.log._events[before:] if not one.actor.startswith("@")}
        assert stored <= accepted, "something was stored that nobody was told is accepted"

    async def _legal(self, game: Game) -> Shot:
        """Return a legal move of a seat that has to act."""
        method = next(method for method in self.methods if method.name == "Act")
        table = await game.table()
        seat = self._dice.choice(seats_to_act(await game.hand()))
        request = act(game.table_id, choose(table, seat, self._dice))
        return Shot(method, game.clients[seat].metadata, (request.SerializeToString(),))


async def in_play(service: Replica, players: Sequence[str], dice: Random) -> Game:
    """Open a table and play its first hand to the first trick."""
    game = await started(service, "homy-weihai", players)
    await game.reach(Phase.PLAY, dice)
    return game


async def is_alive(game: Game, *, between_hands: bool) -> bool:
    """Tell whether a table is still what it was made for."""
    table = await game.table()
    return table.status.name == "OPEN" and in_progress(table) != between_hands


@pytest.fixture(params=SHARES)
async def fuzzed(log: MemoryLog, request: pytest.FixtureRequest) -> AsyncIterator[Fuzzed]:
    """Give such a service, whose idle streams beat at once."""
    async with replica(log, Limits(heartbeat_seconds=0.01), rate_limit_per_second=math.inf) as service:
        yield Fuzzed(service, log, await methods_of(service.channel), request.param)


async def test_any_request_gets_a_clear_answer(fuzzed: Fuzzed) -> None:
    """Never INTERNAL, never UNKNOWN, nothing logged as a failure; what is refused changes nothing; the server lives.

    Every method is reached by what is sound and by what is not; the chains hold to the end.
    """
    with capture_logs() as lines:
        for _ in range(REQUESTS // BATCH):
            await fuzzed.prepare()
            await fuzzed.volley(BATCH)
    assert not [line for line in lines if line["log_level"] == "error"]
    for method in fuzzed.methods:
        assert any(fuzzed.statuses[method.name, code] for code in DECIDED), f"{method.name} was never decided"
        assert fuzzed.statuses[method.name, grpc.StatusCode.INVALID_ARGUMENT], f"{method.name} was never malformed"
    for stream_id in {one.stream_id for one in fuzzed.log._events}:
        stored = await fuzzed.log.read_stream(StreamId(stream_id), limit=100_000)
        chain.verify_end(chain.verify(chain.start(stream_id), stored), await fuzzed.log.head(stream_id))
