"""Every service is replaced, scaled out and in, in the middle of fifty tables: nobody loses anything by it."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Final

import pytest

from baohuang.client import (
    HOUSE,
    BearerToken,
    Credentials,
    connect_history,
    connect_matchmaking,
    connect_rating,
    connect_scoring,
)
from baohuang.eventlog.postgres.log import open_log
from baohuang.history.sought import RulingsSought
from baohuang.rpc.auth import Caller, CallerId, Role
from baohuang.rules.state import PlayerId
from command_line.identities import Identify
from eventually import eventually
from fleet.crowd import Crowd
from fleet.fleet import Fleet, Place
from fleet.settled import all_settled, check_against_recomputation
from fleet.streams import SENT_AWAY, Ending, NotedStream, check_endings, counted
from up.kills.checks import SETTLED_SECONDS, check_logs, check_points
from up.kills.records import Record

TABLES: Final = 50
THINK_SECONDS: Final = 0.5
"""A hand then lasts for longer than the rollout, so that each of the tables is in the middle of one."""
REPLICAS: Final = {"table": 3, "scoring": 2, "rating": 2, "matchmaking": 2, "history": 1, "bots": 1}


@pytest.mark.timeout(900)
async def test_a_rollout_costs_nobody_anything(fleet: Fleet, place: Place) -> None:
    """Each replica of each service ends in order; table goes from three to five to two; play goes on all the while.

    Every acknowledged move is in the log once; no hand is voided, no turn extended, nobody fined or played by a
    trustee; every hand is scored and rated once; every stream that a replica held was told to reconnect, with its
    version, and no other ended but as is promised; no watcher misses a version; nobody who plays or asks anything meets
    an error.
    """
    crowd, identify = Crowd(THINK_SECONDS), by_one_token(place)
    async with AsyncExitStack() as stack:
        await asyncio.gather(*(fleet.scale(service, many) for service, many in REPLICAS.items()))
        await crowd.gather(stack, fleet.address_of("table"), fleet.address_of("matchmaking"), identify, TABLES)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(crowd.play())
            asking = tasks.create_task(ask(fleet, identify))
            await eventually(crowd.all_play, 120)
            await roll_all(fleet, crowd)
            crowd.hurried.set()
            asking.cancel()
    await check(fleet, crowd, place, identify)
    await fleet.end_all()
    check_logs(place.folder)


def by_one_token(place: Place) -> Identify:
    """Return how players prove who they are: each by one token for as long as the test lasts."""

    def credentials(player: PlayerId) -> Credentials:
        return BearerToken(place.key.token(Caller(CallerId(player), Role.PLAYER), 3600))

    return credentials


async def roll_all(fleet: Fleet, crowd: Crowd) -> None:
    """Replace every replica of every service, all services at once as a new image does; then scale table out and in.

    Every stream that was open before is told so by the replica that held it, but for those that their readers left.
    """
    since = time.monotonic()
    held = [stream for stream in crowd.streams if stream.ending is None]
    await asyncio.gather(*(fleet.roll(service) for service in REPLICAS))
    await eventually(lambda: all_ended(held), 30)
    check_endings(held)
    assert sum(stream.ending == Ending(True, SENT_AWAY) for stream in held) > len(crowd.clients) / 2, counted(held)
    await fleet.scale("table", 5)
    await fleet.scale("table", 2)
    print(f"rolled in {time.monotonic() - since:.1f} s; {len(crowd.notes)} answers so far")


async def all_ended(streams: Sequence[NotedStream]) -> bool:
    """Tell whether each has ended: who thinks about his move reads what he was told only when he has made it."""
    return all(stream.ending for stream in streams)


async def ask(fleet: Fleet, identify: Identify) -> None:
    """Ask the services that nobody plays with one question after another; all are answered."""
    me = identify(PlayerId("curious"))
    async with AsyncExitStack() as stack:
        scores = await stack.enter_async_context(connect_scoring(fleet.address_of("scoring"), me))
        ratings = await stack.enter_async_context(connect_rating(fleet.address_of("rating"), me))
        queues = await stack.enter_async_context(connect_matchmaking(fleet.address_of("matchmaking"), me))
        records = await stack.enter_async_context(connect_history(fleet.address_of("history"), me))
        while True:
            await scores.account(HOUSE)
            await ratings.rating(PlayerId("curious"))
            await queues.queue("ourgame-simple")
            assert [one async for one in records.rulings(RulingsSought(player=PlayerId("curious")))] == []
            await asyncio.sleep(0.05)


async def check(fleet: Fleet, crowd: Crowd, place: Place, identify: Identify) -> None:
    """Hold the log, the ledger and the ratings against each other and against what the players were told and saw."""
    record = Record()
    async with open_log(place.dsn) as log:
        await record.read(log)
    noted = record.check_noted(crowd.notes)
    record.check_rulings({})
    assert record.extensions == 0
    assert record.playing == {}
    assert len(record.finished) == len({table for player in crowd.players for table in player.played}) >= TABLES
    assert [client.gaps for client in crowd.clients if client.gaps] == []
    check_endings(crowd.streams)
    await all_settled(place.dsn, SETTLED_SECONDS)
    await check_against_recomputation(place.dsn)
    await check_points(fleet.address_of, record, identify)
    slowest = max(client.slowest for client in crowd.clients)
    print(f"{noted} answers; {len(record.finished)} hands; streams ended:\n{counted(crowd.streams)}")
    print(f"the slowest: {slowest.what} in {slowest.seconds:.1f} s, {time.monotonic() - slowest.since:.0f} s ago")
