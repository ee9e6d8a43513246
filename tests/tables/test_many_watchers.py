"""Many streams: on one table, and on many tables at once."""

import asyncio
import math
from collections.abc import Sequence
from contextlib import AsyncExitStack
from random import Random

import grpc

from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import StreamId
from baohuang.gen.table.v1 import watch_pb2
from bench.random_player import chance_of
from table_service.wiring import Limits
from tables.clients import Client, open_table, ready, sit
from tables.games import PLAYERS, Game, seated
from tables.onlookers import Onlooker, channels
from tables.replicas import Replica, replica

NOTHING_BUT_EVENTS = Limits(heartbeat_seconds=3600.0, away_seconds=3600.0)
"""However slow the machine is, streams bring events alone."""
CROWD = 500
TABLES = 200
MOVES = 25


def check_contiguous(messages: list[watch_pb2.WatchTableResponse], begin: int, end: int) -> None:
    """Check that a stream is a snapshot at one version, then every version up to another, once and in order."""
    versions = [message.update.version for message in messages[1:]]
    assert messages[0].snapshot.version == begin
    assert versions == list(range(begin + 1, end + 1))


async def test_five_hundred_watchers_of_one_table(log: MemoryLog) -> None:
    """The five players and 495 spectators, on five connections: nobody misses anything, all spectators see the same."""
    async with replica(log, NOTHING_BUT_EVENTS, max_connection_age_seconds=3600) as service, AsyncExitStack() as stack:
        game, chance = await seated(service, "homy-weihai"), chance_of("five hundred")
        lines = await channels(stack, service.address, 5)
        names = [*PLAYERS, *(f"spectator-{number}" for number in range(CROWD - 5))]
        watchers = [Onlooker(lines[place % 5], name, game.table_id) for place, name in enumerate(names)]
        begin = (await game.head()).version
        await asyncio.gather(*(watcher.open() for watcher in watchers))
        await play_some(game, MOVES, chance)
        end = (await game.head()).version
        await asyncio.wait_for(asyncio.gather(*(one.has(end - begin + 1) for one in watchers)), 60)
        for watcher in watchers:
            await watcher.leave()
    for watcher in watchers[:6]:
        check_contiguous(watcher.messages(), begin, end)
    public = watchers[5].raw[1:]
    assert all(watcher.raw[1:] == public for watcher in watchers[5:])


async def play_some(game: Game, moves: int, chance: Random) -> None:
    """Get all ready, and make so many moves."""
    await game.all_ready()
    for _ in range(moves):
        await game.step(chance)


async def test_two_hundred_tables_with_five_watchers_each(log: MemoryLog) -> None:
    """Every player watches his table while all tables fill and deal at once: each has every version of his own."""
    serving = replica(log, NOTHING_BUT_EVENTS, rate_limit_per_second=math.inf, max_connection_age_seconds=3600)
    async with serving as service, AsyncExitStack() as stack:
        lines = await channels(stack, service.address, 5)
        tables = await asyncio.gather(*(watched_table(service, number, lines) for number in range(TABLES)))
        heads = {head.stream_id: head.version for head in await log.list_heads(limit=TABLES)}
        assert len(heads) == TABLES
        for watchers in tables:
            end = heads[StreamId(watchers[0].table_id)]
            begin = watchers[0].messages()[0].snapshot.version
            await asyncio.wait_for(asyncio.gather(*(one.has(end - begin + 1) for one in watchers)), 60)
            for watcher in watchers:
                await watcher.leave()
                check_contiguous(watcher.messages(), begin, end)
                assert seats_dealt_to(watcher) == [players_of(watchers).index(watcher.player)]


def players_of(watchers: list[Onlooker]) -> list[str]:
    """Return who watches, by seat."""
    return [watcher.player for watcher in watchers]


def seats_dealt_to(watcher: Onlooker) -> list[int]:
    """Return the seats whose cards a watcher was shown when they were dealt."""
    updates = [message.update for message in watcher.messages() if message.HasField("update")]
    return [held.seat for one in updates for held in one.event.cards_dealt.hidden.hands]


async def watched_table(service: Replica, number: int, lines: Sequence[grpc.aio.Channel]) -> list[Onlooker]:
    """Open a table, let five players watch it, sit down and get ready."""
    players = [f"p{number}-{seat}" for seat in range(5)]
    clients = [Client(service.channel, player) for player in players]
    table_id = (await clients[0].call(open_table("homy-weihai"), seconds=60)).table_id
    watchers = [Onlooker(lines[seat], player, table_id) for seat, player in enumerate(players)]
    await asyncio.gather(*(watcher.open() for watcher in watchers))
    for seat, client in enumerate(clients):
        await client.call(sit(table_id, seat), seconds=60)
    for client in clients:
        await client.call(ready(table_id), seconds=60)
    return watchers
