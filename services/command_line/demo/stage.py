"""The hand itself: five bots at a table and a spectator, each on a connection of its own."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from typing import Final

from baohuang.client import DevelopmentIdentity, Moment, TableClient, connect
from baohuang.eventlog.port import Version
from baohuang.rules.state import PlayerId, TableId
from command_line.bots.errands import hand_is_closed
from command_line.bots.runner import Bot

PLAYERS: Final = tuple(map(PlayerId, ("Chen", "Lin", "Wei", "Zhao", "Yu")))
HOST: Final = PlayerId("host")
"""Watches the table as anybody may."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What the watchers ended with: the spectator, from which version on, and the five bots by seat.

    `ended_at` is when the spectator was told the end of the hand, by this process's monotonic clock.
    """

    table_id: TableId
    first_version: Version
    spectator: Moment
    bots: tuple[Moment, ...]
    ended_at: float = 0.0


async def play_one_hand(
    address: str, table_id: TableId, players: Sequence[PlayerId], think_seconds: float, show: Callable[[Moment], None]
) -> Seen:
    """Let five bots, by seat, play one hand at a table while a spectator shows it, and return what all saw last.

    They take their seats in order unless they have them. Their entropy is the seat's, so that a seed gives one deal.
    Raises ClientError.
    """
    async with AsyncExitStack() as connections:
        spectator, *clients = [
            await connections.enter_async_context(connect(address, DevelopmentIdentity(player)))
            for player in (HOST, *players)
        ]
        try:
            return await _play(spectator, clients, table_id, think_seconds, show)
        except ExceptionGroup as failed:
            # The first failure cancelled the others.
            raise failed.exceptions[0] from failed


async def _play(
    spectator: TableClient,
    clients: Sequence[TableClient],
    table_id: TableId,
    think_seconds: float,
    show: Callable[[Moment], None],
) -> Seen:
    watching = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        watched = tasks.create_task(_spectate(spectator, table_id, watching, show))
        await watching.wait()
        bots = [Bot(client, seat, think_seconds=think_seconds) for seat, client in enumerate(clients)]
        for bot in bots:
            await bot.take_place(table_id, f"seat {bot.seat}")
        playing = [tasks.create_task(bot.play_hand(table_id)) for bot in bots]
    first, last, ended_at = watched.result()
    return Seen(table_id, first, last, tuple(played.result() for played in playing), ended_at)


async def _spectate(
    client: TableClient, table_id: TableId, watching: asyncio.Event, show: Callable[[Moment], None]
) -> tuple[Version, Moment, float]:
    """Show every moment until the hand is closed; return the first version, the last moment and when it came."""
    first: Version | None = None
    async with aclosing(client.watch(table_id)) as moments:
        async for moment in moments:
            watching.set()
            first = moment.version if first is None else first
            show(moment)
            if hand_is_closed(moment.table):
                return first, moment, time.monotonic()
    raise AssertionError("a watch has no end of its own")


def last_tables(seen: Seen) -> Sequence[Moment]:
    """Return what the spectator, then each bot by seat, saw last."""
    return (seen.spectator, *seen.bots)
