"""A player's line is recorded when it is lost and when it is back, at most once each a turn, and costs him nothing."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import StreamId
from baohuang.rules.commands import Enthrone
from bench.random_player import chance_of
from table_service.wiring import Limits, Timing
from tables.clients import Client, act
from tables.games import PLAYERS, started
from tables.lines import Stage, back, lost, staged, tasks_of
from tables.replicas import replica
from tables.virtual_time import VirtualTime


@pytest.fixture
def time() -> VirtualTime:
    """Give a time that goes on only when a test says so."""
    return VirtualTime()


@pytest.fixture
async def stage(time: VirtualTime) -> AsyncIterator[Stage]:
    """Give a hand with nobody watching yet."""
    async with staged(time) as stage:
        yield stage


async def test_a_lost_line_is_recorded_as_of_its_loss(stage: Stage) -> None:
    """Two seconds after the last stream ended, dated when it did; and its return when a stream is opened."""
    await stage.opens(2)
    stage.time.advance(1)
    await stage.loses(2)
    stage.time.advance(1.9)
    await stage.records()
    stage.time.advance(0.2)
    await stage.records(lost(2, 1))
    stage.time.advance(5)
    await stage.opens(2)
    await stage.records(lost(2, 1), back(2, 8.1))
    stage.streams[2].cancel()


async def test_who_is_back_in_time_was_never_away(stage: Stage) -> None:
    """Within two seconds, on this replica or on another: nothing is recorded."""
    await stage.opens(0)
    await stage.loses(0)
    stage.time.advance(1)
    await stage.opens(0)
    stage.time.advance(10)
    assert await stage.recorded() == []
    assert not [alarm for alarm in stage.time.alive if alarm.at < 50]
    stage.streams[0].cancel()


async def test_what_ends_by_takeover_or_drain_is_no_loss(stage: Stage) -> None:
    """A newer stream takes over and goes on; the server sends its watchers away: no line was lost."""
    await stage.opens(0)
    older = stage.streams[0]
    await stage.opens(0)
    assert (await older.read()).HasField("taken_over")
    stage.service.hub.drain()
    assert (await stage.streams[0].read()).HasField("reconnect")
    await stage.until(lambda: not stage.service.hub._watching)
    stage.time.advance(10)
    assert await stage.recorded() == []


async def test_spectators_have_no_line(stage: Stage) -> None:
    """Who does not play the hand leaves nothing behind."""
    stream = Client(stage.service.channel, "stranger").watch(stage.game.table_id)
    await stream.read()
    stream.cancel()
    await stage.until(lambda: not stage.service.hub._watching)
    stage.time.advance(10)
    assert await stage.recorded() == []


async def test_a_flapping_line_leaves_one_of_each_a_turn(stage: Stage) -> None:
    """Ten losses in a turn are one; what is so when the next turn begins is recorded then."""
    seat = ((await stage.game.hand()).turn or 0) + 1
    for _ in range(10):
        await stage.opens(seat % 5)
        await stage.loses(seat % 5)
        stage.time.advance(3)
        await asyncio.gather(*tasks_of(stage))
    seat %= 5
    assert await stage.recorded() == [lost(seat, 0), back(seat, 3)]
    other = Client(stage.service.channel, "stranger").watch(stage.game.table_id)
    await other.read()
    await stage.game.step(chance_of("flapping"))
    await stage.records(lost(seat, 0), back(seat, 3), lost(seat, 27))
    other.cancel()


async def test_a_loss_that_another_replica_reported_wrongly_is_put_right(time: VirtualTime) -> None:
    """He went over to another replica and nobody told: the old one reports a loss, the new one that he is there."""
    log, timing = MemoryLog(time.now), Timing(lambda: time.seconds, time.call_later)
    async with replica(log, Limits(), timing=timing) as old, replica(log, Limits(), timing=timing) as new:
        game = await started(old)
        stage = Stage(old, game, time)
        await stage.opens(1)
        moved = Client(new.channel, PLAYERS[1]).watch(game.table_id)
        await moved.read()
        await stage.loses(1)
        time.advance(3)
        await stage.records(lost(1, 0), back(1, 3))
        moved.cancel()


async def test_after_the_hand_nothing_is_reported(stage: Stage) -> None:
    """A line that is lost when the hand is over, or whose two seconds end after it, is nobody's business."""
    await stage.opens(3)
    await stage.game.play(chance_of("after the hand"))
    await stage.loses(3)
    stage.time.advance(10)
    assert await stage.recorded() == []
    assert (await stage.game.log.head(StreamId(stage.game.table_id))) == await stage.game.head()


async def test_a_move_of_his_own_is_no_return(stage: Stage) -> None:
    """Calls come without a stream: who plays by calls alone is recorded as lost until he watches again."""
    turn = (await stage.game.hand()).turn
    assert turn is not None
    await stage.opens(turn)
    await stage.loses(turn)
    stage.time.advance(3)
    await stage.records(lost(turn, 0))
    await stage.game.clients[turn].call(act(stage.game.table_id, Enthrone()))
    assert await stage.recorded() == [lost(turn, 0)]
