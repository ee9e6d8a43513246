"""A player who plays his seat to the end of the hand whatever happens to the server."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from random import Random

import grpc

from baohuang.rules.phases.asking import seats_to_act
from bench.random_player import chance_of, choose
from tables.clients import Changing, Client, Outcome, act, ready, sit
from tables.games import PLAYERS
from tables.viewers import Response, Viewer

QUICK = (
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.min_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 200),
    ("grpc.use_local_subchannel_pool", 1),
)
"""Channel options for clients of a server that comes back soon."""


class Persistent:
    """Repeats each call with its own request id until it is answered; watches again from the version he has.

    `answered` holds what every request came to.
    """

    def __init__(self, client: Client, table_id: str, seat: int, chance: Random) -> None:
        self.client = client
        self.seat = seat
        self.viewer = Viewer(client, table_id)
        self.answered: dict[str, Outcome] = {}
        self.broken = 0
        self._chance = chance
        self._acted_to = 0

    async def insist(self, request: Changing) -> Outcome:
        """Make the call until it is answered, and keep the answer. A refusal is an error, unless the server goes."""
        while True:
            try:
                self.answered[request.request_id] = await self.client.call(request)
            except grpc.aio.AioRpcError as error:
                self._check_broken(error)
            else:
                return self.answered[request.request_id]

    async def sit_and_play(self) -> None:
        """Sit down, get ready, and play the hand to its end."""
        await self.insist(sit(self.viewer.table_id, self.seat))
        await self.insist(ready(self.viewer.table_id))
        await self.play()

    async def play(self) -> None:
        """Play until the hand is over."""
        while not self.over:
            stream = self.client.watch(self.viewer.table_id, self.viewer.version or None, seconds=60)
            try:
                await self._follow(stream)
            except grpc.aio.AioRpcError as error:
                self._check_broken(error)
            finally:
                stream.cancel()

    @property
    def over(self) -> bool:
        """Whether the hand is over, as he sees it."""
        table = self.viewer.table
        return table is not None and table.hands_played > 0

    async def _follow(self, stream: "grpc.aio.UnaryStreamCall[object, Response]") -> None:
        await self._act_if_asked()
        while not self.over:
            response = await stream.read()
            if not isinstance(response, Response):
                return
            self.viewer.take(response)
            await self._act_if_asked()

    async def _act_if_asked(self) -> None:
        table = self.viewer.table
        if table is None or table.hand is None or self.over or self.viewer.version < self._acted_to:
            return
        if self.seat in seats_to_act(table.hand):
            reply = await self.insist(act(table.table_id, choose(table, self.seat, self._chance)))
            self._acted_to = reply.version

    def _check_broken(self, error: grpc.aio.AioRpcError) -> None:
        # CANCELLED: a server that stops says so to calls that it never began.
        assert error.code() in {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED}, error
        self.broken += 1


@asynccontextmanager
async def players_at(address: str, table_id: str) -> AsyncIterator[list[Persistent]]:
    """Give five players, each on a connection of his own; they play at no other table (FINE-6)."""
    async with AsyncExitStack() as stack:
        players = []
        for seat, name in enumerate(PLAYERS):
            channel = await stack.enter_async_context(grpc.aio.insecure_channel(address, options=QUICK))
            players.append(
                Persistent(Client(channel, f"{name}-{table_id}"), table_id, seat, chance_of((table_id, seat)))
            )
        yield players


def all_answered(players: list[Persistent]) -> dict[str, Outcome]:
    """Return what all their requests came to, by request id."""
    return {request_id: reply for player in players for request_id, reply in player.answered.items()}
