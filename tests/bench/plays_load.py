"""The load: tables of five clients, each playing a script as fast as its players hear of one another's plays.

The next player moves when the last play reaches him, as a person would who needs no time to think. A play's latency is
from sending it to the last of the other four having it. Lanes play at the same time; a lane plays its tables one after
the other. Nothing counts that happens before all are ready, nor after one lane has run out of moves.
"""

import asyncio
import gc
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Final
from uuid import uuid4

import grpc

from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.rules.state import ALL_SEATS

from .plays_script import Play, Script
from .plays_seats import Connect, Seat

_A_LITTLE_SECONDS: Final = 0.1
_CHANNEL: Final = (("grpc.use_local_subchannel_pool", 1),)
Open = Callable[[Sequence[grpc.aio.Channel], Sequence[str]], Awaitable[str]]
"""Opens a table, seats these five players over these five channels, and gives the table's id."""
Start = Callable[[Sequence[grpc.aio.Channel], Sequence[str], str], Awaitable[None]]
"""Starts the hand of a table at which the five sit and which they watch."""


@dataclass(frozen=True, slots=True)
class Target:
    """What is put under load."""

    address: str
    open_table: Open
    start_hand: Start


@dataclass(frozen=True, slots=True)
class Shape:
    """How much load: lanes at once, tables for each lane to play one after the other, and for how long.

    That is so many seconds, and on a slow machine as many more as the plays take, or it would measure openings only.
    """

    lanes: int
    tables_a_lane: int
    seconds: float
    plays: int = 0


@dataclass(frozen=True, slots=True)
class Measured:
    """Plays a second, and percentiles of their latency in milliseconds."""

    rate: float
    p50: float
    p99: float


@dataclass(slots=True)
class _Tally:
    """What was played until it is over."""

    latencies: list[float] = field(default_factory=list)
    over: asyncio.Event = field(default_factory=asyncio.Event)


class _Board:
    """One table while its script is played."""

    def __init__(self, script: Script, seats: Sequence[Seat], requests: Sequence[bytes], tally: _Tally) -> None:
        self._plays = script.plays
        self._seats = seats
        self._requests = requests
        self._tally = tally
        self._by_version = {play.version: place for place, play in enumerate(script.plays)}
        self._sent_at = [0.0] * len(script.plays)
        self._to_hear = [len(seats) - 1] * len(script.plays)
        self._next = 0
        self.finished: Callable[[], None] = tally.over.set

    def send(self) -> None:
        """Make the next play of the script."""
        place, self._next = self._next, self._next + 1
        self._sent_at[place] = time.perf_counter()
        self._seats[self._plays[place].seat].send(self._requests[place])

    def seen(self, seat: int, version: int) -> None:
        """Take note that a seat has been sent an update."""
        place = self._by_version.get(version)
        if place is None or self._tally.over.is_set():
            return
        if seat != self._plays[place].seat:
            self._to_hear[place] -= 1
            if not self._to_hear[place]:
                self._tally.latencies.append(time.perf_counter() - self._sent_at[place])
        if place == self._next - 1:
            self._go_on(seat)

    async def close(self) -> None:
        """Let all five go. Raises AioRpcError for what failed them."""
        for seat in self._seats:
            await seat.close()

    def _go_on(self, seat: int) -> None:
        """Let the next player move when he has heard of the last play; behind the last one, once, whoever made it."""
        if self._next == len(self._plays):
            if seat == self._plays[-1].seat:
                self.finished()
        elif seat == self._plays[self._next].seat:
            self.send()


async def measured(target: Target, script: Script, connect: Connect, shape: Shape) -> Measured:
    """Prepare all tables, play, and return what it came to. Raises AioRpcError for the first call that failed."""
    tally = _Tally()
    async with _channels(target.address) as channels:
        tables = range(shape.lanes * shape.tables_a_lane)
        boards = await asyncio.gather(*(_board(target, script, connect, channels, tally) for _ in tables))
        with _nothing_collected():
            start = time.perf_counter()
            for lane in range(shape.lanes):
                _chain(boards[lane :: shape.lanes], tally)
            await _over_after(tally, shape)
            elapsed = time.perf_counter() - start
        await asyncio.gather(*(board.close() for board in boards))
    cuts = statistics.quantiles(tally.latencies, n=100)
    return Measured(len(tally.latencies) / elapsed, cuts[49] * 1000, cuts[98] * 1000)


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """Keep this process from looking for garbage: half a second in which all players stand still is not the target's.

    What is played meanwhile is little, and what was prepared for it is a lot to look through.
    """
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _chain(lane: Sequence[_Board], tally: _Tally) -> None:
    """Let each table of a lane begin when the one before is finished; the last ends it all."""
    for board, following in pairwise(lane):
        board.finished = following.send
    lane[-1].finished = tally.over.set
    lane[0].send()


async def _over_after(tally: _Tally, shape: Shape) -> None:
    """Wait for the end: a lane has run out of moves, or there was enough of everything."""
    wait = shape.seconds
    while not tally.over.is_set():
        try:
            async with asyncio.timeout(wait):
                await tally.over.wait()
        except TimeoutError:
            wait = _A_LITTLE_SECONDS
            if len(tally.latencies) >= shape.plays:
                tally.over.set()


async def _board(
    target: Target, script: Script, connect: Connect, channels: Sequence[grpc.aio.Channel], tally: _Tally
) -> _Board:
    name = uuid4().hex[:20]
    players = [f"{name}-{seat}" for seat in ALL_SEATS]
    table_id = await target.open_table(channels, players)
    seats = [connect(channel, player) for channel, player in zip(channels, players, strict=True)]
    requests = [seats[play.seat].wrap(_request(play, table_id, place)) for place, play in enumerate(script.plays)]
    board = _Board(script, seats, requests, tally)
    for seat, client in enumerate(seats):
        await client.open(table_id, partial(board.seen, seat))
    await target.start_hand(channels, players, table_id)
    return board


def _request(play: Play, table_id: str, place: int) -> bytes:
    """Return the play's request with its ids: messages put one behind the other are merged."""
    ids = pb.ActRequest(request_id=f"{table_id}/{place:03}", table_id=table_id)
    return ids.SerializeToString() + play.request


@asynccontextmanager
async def _channels(address: str) -> AsyncIterator[Sequence[grpc.aio.Channel]]:
    """Give a connection for each seat, which the players of all tables share, as behind a proxy."""
    channels = [grpc.aio.insecure_channel(address, options=_CHANNEL) for _ in ALL_SEATS]
    try:
        yield channels
    finally:
        for channel in channels:
            await channel.close(None)
