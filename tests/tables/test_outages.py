"""Clocks, outages and restarts, as players meet them: nobody is blamed for what is not his fault (TRUST-5, FINE-5)."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from baohuang.eventlog.codec import decode
from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import EventLog, StreamId
from baohuang.gen.rules.v1 import ruleset_pb2
from baohuang.rules.events import CardsPlayed, CrownYielded, EmperorEnthroned, Event, PlayerFined, TurnExtended
from baohuang.rules.events import TrusteeshipEntered as Entered
from baohuang.rules.phases.asking import seats_to_act
from baohuang.rules.state import ALL_SEATS, PlayerId
from bench.random_player import chance_of, choose
from eventually import eventually
from table_service.deadlines import Pace
from table_service.wiring import Limits, Timing
from tables.audit import check_clock, check_rulings, check_turns, history
from tables.clients import Client, act, open_table, ready, sit
from tables.games import Game
from tables.replicas import Replica, replica
from tables.viewers import Viewer
from tables.virtual_time import EPOCH, NEVER_POLLS, QUICK, VirtualTime, keeper, seconds_later

TURN_SECONDS = 5
MOMENT = 0.1
TABLES = 20
ANSWERS = (CardsPlayed, CrownYielded, EmperorEnthroned)


@pytest.fixture
def time() -> VirtualTime:
    """Give a time that goes on only when told to."""
    return VirtualTime()


@pytest.fixture
def log(time: VirtualTime) -> MemoryLog:
    """Give a log whose clock is that time."""
    return MemoryLog(time.now)


@asynccontextmanager
async def service_in(time: VirtualTime, log: EventLog, pace: Pace) -> AsyncIterator[Replica]:
    """Serve in that time."""
    timing = Timing(lambda: time.seconds, time.call_later)
    async with replica(log, Limits(deadlines=pace), timing=timing) as service:
        yield service


async def dealt(service: Replica, number: int = 0) -> Game:
    """Give a table at the first turn of its hand, of five seconds."""
    clients = [Client(service.channel, f"p{number}-{seat}") for seat in ALL_SEATS]
    request = open_table()
    request.options.CopyFrom(ruleset_pb2.Options(turn_seconds=TURN_SECONDS, declare_seconds=TURN_SECONDS))
    game = Game(service.log, (await clients[0].call(request)).table_id, clients)
    for seat, client in enumerate(clients):
        await client.call(sit(game.table_id, seat))
    for client in clients:
        await client.call(ready(game.table_id))
    return game


async def of(game: Game, *kinds: type[Event]) -> Sequence[Event]:
    """Return the table's events of some kinds."""
    events = [decode(one.type, one.data) for one in await game.events()]
    return [event for event in events if isinstance(event, kinds)]


async def test_who_drops_returns_and_plays_is_not_blamed(time: VirtualTime, log: MemoryLog) -> None:
    """He loses his stream in his turn, is back in time and plays; the old deadline goes by: no trustee, no fine.

    The table has one live timer all along.
    """
    async with service_in(time, log, QUICK) as service:
        game = await dealt(service)
        (seat,) = seats_to_act(await game.hand())
        viewer = Viewer(game.clients[seat], game.table_id)
        watching = asyncio.create_task(viewer.watch(lambda: False))
        await viewer.opened.wait()
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        time.advance(4.5)
        await viewer.reach((await game.head()).version)
        assert viewer.table is not None
        await game.clients[seat].call(act(game.table_id, choose(viewer.table, seat, chance_of("back"))))
        assert len(deadline_timers(time)) == 1
        time.advance(TURN_SECONDS - MOMENT)
        assert await of(game, Entered, PlayerFined, TurnExtended) == []
        assert len(deadline_timers(time)) == 1
        time.advance(2 * MOMENT)
        assert await eventually(lambda: of(game, Entered))


def deadline_timers(time: VirtualTime) -> Sequence[object]:
    """Return the alarms that are a table's deadline and not, say, a line's."""
    return [alarm for alarm in time.alive if "_ring" in str(alarm.ring)]


async def test_the_service_is_down_for_thirty_seconds_in_many_turns(time: VirtualTime, log: MemoryLog) -> None:
    """Twenty tables are in mid-turn; after the outage each turn is extended, with clause, readings and evidence.

    No trusteeship, no fine; every acknowledged move is there; and the extended turn is a turn as any.
    """
    async with service_in(time, log, QUICK) as service:
        games = [await dealt(service, number) for number in range(TABLES)]
        accepted = [await game.step(chance_of("outage", number)) for number, game in enumerate(games)]
        time.advance(1)
    time.seconds += 30
    async with service_in(time, log, QUICK):
        for game, reply in zip(games, accepted, strict=True):
            (extended,) = await eventually(lambda game=game: of(game, TurnExtended))  # type: ignore[misc]
            assert isinstance(extended, TurnExtended)
            assert extended.missed_due_at < extended.decided_at < extended.due_at
            assert extended.due_at == seconds_later(31 + TURN_SECONDS)
            assert await of(game, Entered, PlayerFined) == []
            assert (await game.events())[reply.version - 1].hash == reply.hash
            await check_all(log, game.table_id)
        time.advance(TURN_SECONDS + MOMENT)
        for game in games:
            assert await eventually(lambda game=game: of(game, Entered))  # type: ignore[misc]


async def check_all(log: EventLog, table_id: str) -> None:
    """Check turns, clock and rulings of a table."""
    lines = await history(log, table_id)
    check_turns(lines)
    check_clock(lines, {})
    check_rulings(lines)


@pytest.mark.parametrize("moves_first", [True, False])
async def test_a_restart_between_the_deadline_and_the_play(
    time: VirtualTime, log: MemoryLog, *, moves_first: bool
) -> None:
    """The replica dies at the very deadline; on the next one play and expiry race: exactly one ends the turn."""
    async with keeper(log, time, NEVER_POLLS) as gone:
        table_id = await gone.started()
    time.seconds += TURN_SECONDS + MOMENT
    async with keeper(log, time, NEVER_POLLS if moves_first else QUICK) as back:
        hand = (await back.table(table_id)).hand
        assert hand is not None
        (seat,) = seats_to_act(hand)
        if not moves_first:
            await eventually(lambda: log.read_stream(StreamId(table_id), hand.turn_version))  # type: ignore[arg-type]
        player, move = PlayerId(hand.players[seat]), choose(await back.table(table_id), seat, chance_of("restart"))
        await asyncio.gather(back.act(table_id, player, move), return_exceptions=True)
        back.deadlines._start(table_id, hand.due_at)
        await back.fired()
    lines = await history(log, table_id)
    check_turns(lines)
    of_the_turn = [line for line in lines if line.stored.version > hand.turn_version]
    first = [line for line in of_the_turn if isinstance(line.event, ANSWERS)][:1]
    assert [str(one.stored.actor) for one in first] == [player if moves_first else "@clock"]
    assert first[0].stored.recorded_at >= EPOCH + timedelta(seconds=TURN_SECONDS)
