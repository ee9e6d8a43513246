"""A ruling says how the player's line was when it was decided, recorded or not: FINE-5, RULE-1."""

from collections.abc import AsyncIterator

import pytest

from baohuang.eventlog.memory import MemoryLog
from baohuang.rules.clock import later
from baohuang.rules.commands import LostLine, Yield
from baohuang.rules.state import Instant, PlayerId
from table_service.identifiers import new_watch_id
from table_service.watch.hub import Hub
from table_service.watch.lines import Lines
from table_service.watch.recent import Recent
from table_service.watch.subscription import StreamLimits
from tables.clients import act
from tables.games import PLAYERS
from tables.lines import Stage, back, lost, staged
from tables.virtual_time import NEVER_POLLS, VirtualTime, keeper, seconds_later


@pytest.fixture
def time() -> VirtualTime:
    """Give a time that goes on only when a test says so."""
    return VirtualTime()


@pytest.fixture
async def stage(time: VirtualTime) -> AsyncIterator[Stage]:
    """Give a hand with nobody watching yet."""
    async with staged(time) as stage:
        yield stage


async def test_a_loss_shows_in_the_trusteeship_that_follows(stage: Stage) -> None:
    """The ruling of a missed deadline says since when the line was lost and rests on it; it costs no fine (FINE-5)."""
    turn = await stage.in_turn()
    await stage.opens(turn)
    await stage.loses(turn)
    stage.time.advance(3)
    await stage.records(lost(turn, 0))
    version = (await stage.game.head()).version
    await stage.comes_to(0.1)
    ruling = await stage.ruling()
    assert (ruling.seat, ruling.connection_lost_at) == (turn, seconds_later(0))
    assert version in ruling.rests_on
    assert (await stage.game.hand()).fines == (0,) * 5


async def lost_twice(stage: Stage) -> int:
    """Let the player in turn lose his line twice, the second time for more than two seconds, which is not recorded."""
    turn = await stage.in_turn()
    await stage.opens(turn)
    await stage.loses(turn)
    stage.time.advance(3)
    await stage.records(lost(turn, 0))
    await stage.opens(turn)
    await stage.records(lost(turn, 0), back(turn, 3))
    await stage.loses(turn)
    stage.time.advance(3)
    await stage.records_nothing_more(lost(turn, 0), back(turn, 3))
    return turn


async def test_a_second_loss_in_a_turn_shows_in_its_ruling(stage: Stage) -> None:
    """It is not recorded in that turn; the ruling says it all the same, and is the deadline's own command as ever."""
    turn = await lost_twice(stage)
    turn_version, due_at = (hand := await stage.game.hand()).turn_version, hand.due_at
    returned = (await stage.game.head()).version
    await stage.comes_to(0.1)
    ruling = await stage.ruling()
    assert (ruling.seat, ruling.due_at, ruling.connection_lost_at) == (turn, due_at, seconds_later(3))
    assert ruling.rests_on == (turn_version, returned)
    stored = (await stage.game.events())[returned]
    assert (stored.type, stored.request_id) == ("TrusteeshipEntered", f"{stage.game.table_id}/{due_at}")


async def test_who_is_back_from_a_second_loss_was_not_lost(stage: Stage) -> None:
    """He watches at the moment of the ruling, which says so, though neither that loss nor its end is recorded."""
    turn = await lost_twice(stage)
    await stage.opens(turn)
    await stage.comes_to(0.1)
    ruling = await stage.ruling()
    assert (ruling.seat, ruling.connection_lost_at) == (turn, "")
    stage.streams[turn].cancel()


async def test_a_loss_of_the_last_moment_is_none_yet(stage: Stage) -> None:
    """Who has been away for less than two seconds when his time runs out may be on his way to another stream."""
    turn = await stage.in_turn()
    await stage.opens(turn)
    await stage.comes_to(-1)
    await stage.loses(turn)
    await stage.comes_to(0.1)
    ruling = await stage.ruling()
    assert (ruling.seat, ruling.connection_lost_at) == (turn, "")


async def test_a_second_return_in_a_turn_shows_in_its_ruling(stage: Stage) -> None:
    """The log has him lost, his return being one too many for the turn; the ruling knows that he watches."""
    first = await stage.in_turn()
    seat = (first - 1) % 5
    await stage.opens(seat)
    await stage.loses(seat)
    stage.time.advance(3)
    await stage.records(lost(seat, 0))
    await stage.game.clients[first].call(act(stage.game.table_id, Yield()))
    assert await stage.in_turn() == seat
    await stage.opens(seat)
    await stage.records(lost(seat, 0), back(seat, 3))
    await stage.loses(seat)
    stage.time.advance(3)
    recorded = lost(seat, 0), back(seat, 3), lost(seat, 3)
    await stage.records(*recorded)
    await stage.opens(seat)
    await stage.records_nothing_more(*recorded)
    await stage.comes_to(0.1)
    ruling = await stage.ruling()
    assert (ruling.seat, ruling.connection_lost_at) == (seat, "")
    stage.streams[seat].cancel()


async def test_lines_are_told_by_seat_only_of_the_hand_that_has_the_deadline(time: VirtualTime) -> None:
    """A replica may hold a table as it was a hand ago, others in its seats: of another deadline it tells nothing."""
    async with keeper(MemoryLog(time.now), time, NEVER_POLLS) as held:
        table_id = await held.started()
        due_at = (hand := (await held.table(table_id)).hand) and hand.due_at
        assert due_at
        hub = Hub(StreamLimits(), lambda: new_watch_id(time.now()), Recent(held.log))
        async with Lines(held.tables, held.handler, hub, time.now, call_later=time.call_later) as lines:
            with (
                hub.subscribe(table_id, PlayerId(PLAYERS[2]), lambda _: None) as subscription,
                lines.carried_by(subscription),
            ):
                assert (lines.watching(table_id, due_at), lines.watching(table_id, later(due_at, 5))) == ((2,), ())
            time.advance(2.5)
            assert lines.lost(table_id, due_at) == (LostLine(2, Instant(seconds_later(0))),)
            assert lines.lost(table_id, later(due_at, 5)) == ()
            assert lines.watching(table_id, due_at) == ()
