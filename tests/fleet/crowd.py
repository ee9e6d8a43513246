"""Players at many tables at once, who play hand after hand with the project's client and note what becomes of it."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Self

import grpc

from baohuang.client import MatchmakingClient, Moment, Receipt
from baohuang.client.calls import channel_to
from baohuang.client.commands import Request
from baohuang.client.playing import Playing
from baohuang.client.reading import Stream
from baohuang.gen.table.v1 import watch_pb2
from baohuang.rules.rulesets import Options
from baohuang.rules.state import PlayerId, TableId
from command_line.identities import Identify
from fleet.streams import NotedStream
from up.kills.players import Kind, Noted, NotingClient, Player, sit_by_themselves, sit_together

KINDS: Final = (
    Kind("ourgame-simple", (5,), Options(short_deck=True)),
    Kind("homy-standard", (5,)),
    Kind("homy-weihai", (3,), Options(bots=True)),
    Kind("ourgame-classic", (5,), Options(short_deck=True), queues=False),
    Kind("homy-classic", (5,)),
    Kind("homy-qingdao", (3,), Options(bots=True)),
)
"""How a table's players come to it: each company has a table to itself, so none waits for another."""


class Slow(NamedTuple):
    """A call that took so many seconds, and when it began."""

    seconds: float
    what: str
    since: float


class WatchfulClient(NotingClient):
    """Notes beside each answer how long it took, its streams, and versions that did not follow each other."""

    def __init__(self, channel: grpc.aio.Channel, player: PlayerId, notes: list[Noted], identify: Identify) -> None:
        super().__init__(channel, player, notes, identify)
        self.streams: list[NotedStream] = []
        self.gaps: list[tuple[int, int]] = []
        self.hands_seen = 0
        self.slowest = Slow(0.0, "", 0.0)

    async def watch(self, table_id: TableId, *, invitation_code: str = "") -> AsyncGenerator[Moment, None]:
        """See `TableClient.watch`."""
        before: Moment | None = None
        async with aclosing(self._moments(table_id, invitation_code)) as moments:
            async for moment in moments:
                due = (before.version + (moment.posted is None)) if before else moment.version
                if moment.version != due:
                    self.gaps.append((due, moment.version))
                self.hands_seen += moment.table.hand is not None
                before = moment
                yield moment

    async def _carry_out(self, request: Request) -> Receipt:
        since = time.monotonic()
        receipt = await self._carried_out(request)
        self.slowest = max(self.slowest, Slow(time.monotonic() - since, type(request).__name__, since))
        return receipt

    async def _carried_out(self, request: Request) -> Receipt:
        return await super()._carry_out(request)

    def _moments(self, table_id: TableId, invitation_code: str) -> AsyncGenerator[Moment, None]:
        return super().watch(table_id, invitation_code=invitation_code)

    def _open_stream(self, request: watch_pb2.WatchTableRequest) -> Stream:
        return self._noted(NotedStream(super()._open_stream(request), request))

    def _noted(self, stream: NotedStream) -> NotedStream:
        self.streams.append(stream)
        return stream


class StreamingClient(WatchfulClient):
    """Does everything over one Play stream, between entering and leaving it as an async context manager."""

    def __init__(self, channel: grpc.aio.Channel, player: PlayerId, notes: list[Noted], identify: Identify) -> None:
        super().__init__(channel, player, notes, identify)
        self._playing = Playing(self._open_both_ways, self._calls.patience)

    async def __aenter__(self) -> Self:
        await self._playing.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._playing.__aexit__()

    async def _carried_out(self, request: Request) -> Receipt:
        receipt = await self._playing._carry_out(request)
        self._note(request, receipt)
        return receipt

    def _moments(self, table_id: TableId, invitation_code: str) -> AsyncGenerator[Moment, None]:
        return self._playing.watch(table_id, invitation_code=invitation_code)

    def _open_both_ways(self) -> NotedStream:
        return self._noted(NotedStream(self._calls.open_both_ways(self._stub.Play)))


@dataclass(slots=True)
class Crowd:
    """All who play. They think before each move, until they are told to hurry: then they play to the end of a hand."""

    think_seconds: float
    companies: list[tuple[Kind, list[Player]]] = field(default_factory=list)
    clients: list[WatchfulClient] = field(default_factory=list)
    notes: list[Noted] = field(default_factory=list)
    hurried: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def players(self) -> list[Player]:
        """All of them."""
        return [player for _, company in self.companies for player in company]

    @property
    def streams(self) -> list[NotedStream]:
        """All streams they opened so far."""
        return [stream for client in self.clients for stream in client.streams]

    async def gather(self, stack: AsyncExitStack, tables: str, matchmaking: str, identify: Identify, many: int) -> None:
        """Have the companies of so many tables come, each player over a connection of his own."""
        queues = [await stack.enter_async_context(channel_to(matchmaking)) for _ in range(8)]
        for number in range(many):
            kind = KINDS[number % len(KINDS)]
            company = []
            for one in range(kind.companies[0]):
                name = PlayerId(f"p{number}-{one}")
                channel = await stack.enter_async_context(channel_to(tables))
                client = await self._client(stack, number, name, channel, identify)
                queueing = MatchmakingClient(queues[number % len(queues)], identify(name))
                company.append(Player(name, client, queueing, thinks=self._think))
            self.companies.append((kind, company))

    async def _client(
        self, stack: AsyncExitStack, number: int, name: PlayerId, channel: grpc.aio.Channel, identify: Identify
    ) -> WatchfulClient:
        """Give a player's client: at two of five tables they play over streams, at the others by calls."""
        if number % 5 < 2:
            self.clients.append(await stack.enter_async_context(StreamingClient(channel, name, self.notes, identify)))
        else:
            self.clients.append(WatchfulClient(channel, name, self.notes, identify))
        return self.clients[-1]

    async def play(self) -> None:
        """Play hand after hand, each at a new table, and that at hand to its end once they are to hurry."""
        async with asyncio.TaskGroup() as tasks:
            for kind, company in self.companies:
                tasks.create_task(self._play_on(kind, company))

    async def _play_on(self, kind: Kind, company: list[Player]) -> None:
        sit = sit_together if kind.queues else sit_by_themselves
        while not self.hurried.is_set():
            await sit(company, kind, 1)

    async def all_play(self) -> bool:
        """Tell whether every player has seen a hand of his."""
        return all(client.hands_seen for client in self.clients)

    async def _think(self) -> None:
        try:
            async with asyncio.timeout(self.think_seconds):
                await self.hurried.wait()
        except TimeoutError:
            pass
