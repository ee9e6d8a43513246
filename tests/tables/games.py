"""A table with five players over gRPC, and what the log says of it."""

from collections.abc import Sequence
from random import Random
from typing import Any

from baohuang.eventlog.codec import decode
from baohuang.eventlog.port import NO_VERSION, EventLog, Head, StoredEvent, StreamId
from baohuang.rules.evolve import evolve
from baohuang.rules.phases.asking import seats_to_act
from baohuang.rules.state import Hand, Phase, Table, in_progress
from bench.random_player import choose
from tables.clients import Client, act, open_table, ready, sit
from tables.replicas import Replica

PLAYERS = ("an", "bo", "cai", "du", "en")


class Game:
    """A table, a client for each seat, and the truth as the log has it."""

    def __init__(self, log: EventLog, table_id: str, clients: Sequence[Client]) -> None:
        self.log = log
        self.table_id = table_id
        self.clients = list(clients)
        self._table: Table | None = None
        self._version = NO_VERSION

    async def table(self) -> Table:
        """Return the table as the log has it now."""
        for stored in await self.log.read_stream(StreamId(self.table_id), self._version):
            self._table, self._version = evolve(self._table, decode(stored.type, stored.data)), stored.version
        assert self._table is not None
        return self._table

    async def hand(self) -> Hand:
        """Return the current hand as the log has it now."""
        hand = (await self.table()).hand
        assert hand is not None
        return hand

    async def head(self) -> Head:
        """Return where the log of this table ends."""
        head = await self.log.head(StreamId(self.table_id))
        assert head is not None
        return head

    async def events(self) -> Sequence[StoredEvent]:
        """Return all that is in the log of this table."""
        return await self.log.read_stream(StreamId(self.table_id), limit=100_000)

    async def seat_all(self) -> None:
        """Seat the five players."""
        for seat, client in enumerate(self.clients):
            await client.call(sit(self.table_id, seat))

    async def all_ready(self) -> None:
        """Get all five ready, which starts a hand."""
        for client in self.clients:
            await client.call(ready(self.table_id))

    async def step(self, chance: Random) -> Any:
        """Let a seat that has to act make a random legal move, and give the reply."""
        table = await self.table()
        seat = chance.choice(seats_to_act(await self.hand()))
        return await self.clients[seat].call(act(self.table_id, choose(table, seat, chance)))

    async def reach(self, phase: Phase, chance: Random) -> None:
        """Go on until the hand is in that phase."""
        while (await self.hand()).phase is not phase:
            await self.step(chance)

    async def play(self, chance: Random) -> Hand:
        """Play the hand to its end and return it."""
        while in_progress(await self.table()):
            await self.step(chance)
        return await self.hand()


async def opened(replica: Replica, ruleset: str = "ourgame-simple", players: Sequence[str] = PLAYERS) -> Game:
    """Open a table at which nobody sits yet."""
    clients = [Client(replica.channel, player) for player in players]
    reply = await clients[0].call(open_table(ruleset))
    return Game(replica.log, reply.table_id, clients)


async def seated(replica: Replica, ruleset: str = "ourgame-simple", players: Sequence[str] = PLAYERS) -> Game:
    """Open a table at which all five sit."""
    game = await opened(replica, ruleset, players)
    await game.seat_all()
    return game


async def started(replica: Replica, ruleset: str = "ourgame-simple", players: Sequence[str] = PLAYERS) -> Game:
    """Open a table and start its first hand."""
    game = await seated(replica, ruleset, players)
    await game.all_ready()
    return game
