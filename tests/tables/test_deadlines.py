import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

import grpc
import pytest
from structlog.testing import capture_logs

from baohuang.eventlog.codec import decode
from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import Actor, Append, Due, EventLog, Outcome, RequestId, StreamId
from baohuang.rules.events import (
    CardsPlayed,
    DeclarationsPublished,
    Event,
    TableDissolved,
    TrusteeshipEntered,
    TurnExtended,
)
from baohuang.rules.phases.asking import seats_to_act
from baohuang.rules.state import Hand, Phase, TableId, TrusteeshipReason, in_progress
from bench.random_player import chance_of, choose
from eventually import eventually
from table_service.deadlines import CLOCK, Pace
from tables.clients import Client, open_table
from tables.logs import FrontLog, Silent
from tables.replicas import Replica
from tables.virtual_time import NEVER_POLLS, PLAYERS, Keeper, VirtualTime, company, keeper, seconds_later

E = TypeVar("E", bound=Event)

MOMENT = 0.1


@pytest.fixture
def time() -> VirtualTime:
    """Give a time that goes on only when told to."""
    return VirtualTime()


@pytest.fixture
def log(time: VirtualTime) -> MemoryLog:
    """Give a log whose clock is that time."""
    return MemoryLog(time.now)


BY_CLOCK = Actor(CLOCK)


async def expiries(log: EventLog, table_id: TableId) -> list[RequestId]:
    """Return the request ids of the clock's accepted commands, in order."""
    stored = await log.read_stream(StreamId(table_id))
    return list(dict.fromkeys(event.request_id for event in stored if event.actor == BY_CLOCK))


async def fired(log: EventLog, table_id: TableId) -> list[str]:
    """Return the types of the events that the clock brought about."""
    return [event.type for event in await log.read_stream(StreamId(table_id)) if event.actor == BY_CLOCK]


async def events_of(log: EventLog, table_id: TableId, kind: type[E]) -> Sequence[E]:
    """Return a table's events of one type."""
    stored = await log.read_stream(StreamId(table_id))
    return [event for one in stored if isinstance(event := decode(one.type, one.data), kind)]


async def hand_of(replica: Keeper, table_id: TableId) -> Hand:
    """Return the hand as the log has it."""
    hand = (await replica.table(table_id)).hand
    assert hand is not None
    return hand


async def test_a_deadline_put_off_takes_no_new_timer(time: VirtualTime, log: MemoryLog) -> None:
    """Moves move the deadline, not the timer, which rings once and then waits for what the deadline is by then."""
    async with keeper(log, time, NEVER_POLLS) as replica:
        table_id = await replica.started()
        while (await hand_of(replica, table_id)).phase is not Phase.PLAY:
            await move(replica, table_id)
        (timer,) = time.alive
        for _ in range(5):
            await replica.advance(1)
            await move(replica, table_id)
            assert time.alive == [timer]
        await replica.advance(4)
        assert await expiries(log, table_id) == []
        assert len(time.alive) == 1
        await replica.advance(2)
        assert len(await expiries(log, table_id)) == 1


async def move(replica: Keeper, table_id: TableId) -> None:
    """Let a seat that has to act make a legal move."""
    table = await replica.table(table_id)
    seat = seats_to_act(await hand_of(replica, table_id))[0]
    await replica.act(table_id, PLAYERS[seat], choose(table, seat, chance_of("deadlines", table.version)))


class Watched(FrontLog):
    """Counts claims, and how many appends are under way at once."""

    claims = 0
    under_way = 0
    most = 0

    async def claim_due(self, limit: int, lease_seconds: float) -> Sequence[Due]:
        """Claim, and count it."""
        self.claims += 1
        return await self.behind.claim_due(limit, lease_seconds)

    async def append(self, command: Append) -> Outcome:
        """Append after others had their chance."""
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await asyncio.sleep(0)
        self.under_way -= 1
        return await self.behind.append(command)

    async def polled(self) -> None:
        """Wait until the log was asked again, from the beginning to the end of a poll."""
        goal = self.claims + 2

        async def reached() -> bool:
            return self.claims >= goal

        await eventually(reached)


class Failing(FrontLog):
    """Fails on the appends to one stream as only a bug does."""

    stream_id = StreamId("")

    async def append(self, command: Append) -> Outcome:
        """Append; raise ZeroDivisionError for that stream."""
        if command.stream_id == self.stream_id:
            raise ZeroDivisionError
        return await self.behind.append(command)


async def test_a_turn_expires(log: MemoryLog, time: VirtualTime) -> None:
    """TRUST-1: at its deadline, not before, the trustee takes the seat and does the default action at once."""
    async with keeper(log, time, NEVER_POLLS) as replica:
        table_id = await replica.started()
        before = await hand_of(replica, table_id)
        (seat,) = seats_to_act(before)
        await replica.advance(5)
        assert await fired(log, table_id) == []
        await replica.advance(MOMENT)
        (entered,) = await events_of(log, table_id, TrusteeshipEntered)
        assert (entered.seat, entered.player, entered.reason) == (seat, PLAYERS[seat], TrusteeshipReason.TIMEOUT)
        assert (entered.due_at, entered.rests_on) == (before.due_at, (before.turn_version,))
        assert (before.due_at, entered.decided_at) == (seconds_later(5), seconds_later(5 + MOMENT))
        after = await hand_of(replica, table_id)
        assert (await fired(log, table_id))[0] == "TrusteeshipEntered"
        assert len(await fired(log, table_id)) > 1
        assert seat not in seats_to_act(after)
        assert after.due_at > before.due_at


async def test_a_move_in_time_wins(log: MemoryLog, time: VirtualTime) -> None:
    """The deadline it met never fires, by timer or by poll; the next one counts from the move."""
    watched = Watched(log)
    async with keeper(watched, time) as replica:
        table_id = await replica.started()
        await replica.advance(4.9)
        await move(replica, table_id)
        assert len(time.alive) == 1
        await replica.advance(4.9)
        await watched.polled()
        assert await fired(log, table_id) == []
        await replica.advance(MOMENT + MOMENT)
        assert (await fired(log, table_id))[0] == "TrusteeshipEntered"


async def test_a_move_and_the_deadline_at_one_moment(log: MemoryLog, time: VirtualTime) -> None:
    """Sent at once, in either order, one of them takes the turn: it is played or expired, never both."""
    async with keeper(log, time, NEVER_POLLS) as replica:
        for move_first in (True, False):
            players = company(move_first)
            table_id = await replica.started(players)
            (seat,) = seats_to_act(await hand_of(replica, table_id))
            version = (await hand_of(replica, table_id)).turn_version
            choice = choose(await replica.table(table_id), seat, chance_of(seat))
            time.seconds += 5 + MOMENT
            if move_first:
                moving = asyncio.create_task(replica.act(table_id, players[seat], choice))
                await asyncio.sleep(0)
                time.advance(0)
            else:
                time.advance(0)
                await asyncio.sleep(0)
                moving = asyncio.create_task(replica.act(table_id, players[seat], choice))
            await asyncio.gather(moving, return_exceptions=True)
            await replica.fired()
            entered = await events_of(log, table_id, TrusteeshipEntered)
            assert len(entered) == (0 if move_first else 1)
            taken = [event for event in await log.read_stream(StreamId(table_id)) if event.version > version]
            assert {event.actor for event in taken} == {Actor(players[seat] if move_first else CLOCK)}


@pytest.mark.parametrize(("late", "kind"), [(3.0, "TrusteeshipEntered"), (3.000001, "TurnExtended")])
async def test_a_deadline_decided_too_late_is_extended(
    log: MemoryLog, time: VirtualTime, late: float, kind: str
) -> None:
    """TRUST-5: beyond `grace_seconds` nobody is to blame: the turn begins anew, the readings are in the event."""
    async with keeper(log, time, NEVER_POLLS) as gone:
        table_id = await gone.started()
    assert not time.alive
    time.seconds += 5 + late
    async with keeper(log, time) as back:
        await eventually(lambda: fired(log, table_id))
        await back.fired()
        assert (await fired(log, table_id))[0] == kind
        for extended in await events_of(log, table_id, TurnExtended):
            assert await fired(log, table_id) == ["TurnExtended"]
            assert (extended.missed_due_at, extended.decided_at) == (seconds_later(5), seconds_later(5 + late))
            assert extended.due_at == seconds_later(10 + late)
        await back.advance(5 + MOMENT)
        assert "TrusteeshipEntered" in await fired(log, table_id)


async def test_two_replicas_fire_once(log: MemoryLog, time: VirtualTime) -> None:
    """Both have learnt of the table, both have a timer, both poll: one expiry a deadline, and no complaint."""
    with capture_logs() as lines:
        async with keeper(log, time) as a, keeper(log, time) as b:
            table_id = await a.seated()
            await b.tables.hold(table_id)
            await a.all_ready(table_id)
            await b.tables.current(table_id)
            rounds = 0
            while in_progress(await b.table(table_id)):
                await a.tables.current(table_id)
                assert len(time.alive) == 2
                time.advance(5 + MOMENT)
                await asyncio.gather(a.fired(), b.fired())
                rounds += 1
        assert rounds > 1
        assert len(await expiries(log, table_id)) == rounds
        entered = await events_of(log, table_id, TrusteeshipEntered)
        assert len({one.seat for one in entered}) == len(entered) == 5
    assert lines == []


@pytest.mark.parametrize("ahead", [5.0, 600.0], ids=["seconds", "minutes"])
async def test_a_clock_ahead_ends_no_turn_early(log: MemoryLog, time: VirtualTime, ahead: float) -> None:
    """A replica that is ahead fires at once; the log refuses, the replica sets its clock and waits its turn."""
    async with keeper(log, time, NEVER_POLLS) as a, keeper(log, time, NEVER_POLLS) as b:
        table_id = await a.seated()
        await b.tables.hold(table_id)
        await a.all_ready(table_id)
        b.ahead = ahead
        await b.tables.current(table_id)
        await b.advance(4)
        assert await fired(log, table_id) == []
        assert b.clock.now() == log._now()
        assert len(time.alive) == 2
        await b.advance(1 + MOMENT)
        await a.fired()
        assert len(await expiries(log, table_id)) == 1
        assert not await events_of(log, table_id, TurnExtended)


@pytest.mark.parametrize("behind", [60.0, 3600.0], ids=["a minute", "an hour"])
async def test_a_clock_behind_is_set_by_what_is_due(log: MemoryLog, time: VirtualTime, behind: float) -> None:
    """A replica that was suspended thinks nothing is due; the log says so, and it fires by the right time."""
    async with keeper(log, time, NEVER_POLLS) as gone:
        table_id = await gone.started()
    async with keeper(log, time) as replica:
        replica.ahead = -behind
        time.seconds += 5 + MOMENT
        await eventually(lambda: fired(log, table_id))
        (entered,) = await events_of(log, table_id, TrusteeshipEntered)
        assert entered.decided_at == seconds_later(5 + MOMENT)


async def test_a_dead_replica_leaves_its_deadlines_to_the_others(log: MemoryLog, time: VirtualTime) -> None:
    """One that has never heard of the table expires it, even with the dead one's claim: when that runs out."""
    watched = Watched(log)
    async with keeper(watched, time) as living:
        async with keeper(log, time, NEVER_POLLS) as dying:
            table_id = await dying.started()
        time.seconds += 5
        assert len(await log.claim_due(1, Pace().lease_seconds)) == 1
        time.seconds += 1.4
        await watched.polled()
        assert await fired(log, table_id) == []
        time.seconds += MOMENT
        await eventually(lambda: fired(log, table_id))
        await living.fired()
        (entered,) = await events_of(log, table_id, TrusteeshipEntered)
        assert entered.decided_at == seconds_later(6.5)


async def test_all_who_have_not_answered_expire(log: MemoryLog, time: VirtualTime) -> None:
    """In a simultaneous phase those who did answer keep their seats; the answers are revealed at the deadline."""
    async with keeper(log, time, NEVER_POLLS) as replica:
        table_id = await replica.started()
        while (await hand_of(replica, table_id)).phase is not Phase.DECLARE:
            await move(replica, table_id)
        before = await hand_of(replica, table_id)
        await replica.advance(2)
        await move(replica, table_id)
        await move(replica, table_id)
        waiting = seats_to_act(await hand_of(replica, table_id))
        assert len(waiting) == len(before.asked) - 2
        assert (await hand_of(replica, table_id)).due_at == before.due_at
        await replica.advance(3 + MOMENT)
        entered = await events_of(log, table_id, TrusteeshipEntered)
        assert tuple(one.seat for one in entered) == waiting
        assert {one.due_at for one in entered} == {before.due_at}
        assert len(await events_of(log, table_id, DeclarationsPublished)) == 1


async def test_a_hand_that_everybody_has_left_comes_to_its_end(log: MemoryLog, time: VirtualTime) -> None:
    """Five deadlines take five seats, the trustees play it out, the table is dissolved and nothing is due any more."""
    async with keeper(log, time, NEVER_POLLS) as replica:
        table_id = await replica.started()
        deadlines = 0
        while in_progress(await replica.table(table_id)):
            await replica.advance(5 + MOMENT)
            deadlines += 1
            assert deadlines <= 5
        entered = await events_of(log, table_id, TrusteeshipEntered)
        assert Counter(one.seat for one in entered) == dict.fromkeys(range(5), 1)
        assert all(one.automatic for one in await events_of(log, table_id, CardsPlayed))
        assert len(await events_of(log, table_id, TableDissolved)) == 1
        assert not time.alive
        time.seconds += 3600
        assert not await log.claim_due(10, 1.5)


async def test_one_bad_table_stops_no_other(log: MemoryLog, time: VirtualTime) -> None:
    """A bug that one table meets is logged and met again; the loop goes on, and the others expire."""
    failing = Failing(log)
    with capture_logs() as lines:
        async with keeper(failing, time) as replica:
            bad, good = [await replica.started(company(number)) for number in range(2)]
            failing.stream_id = StreamId(bad)
            await replica.advance(5 + MOMENT)
            assert await fired(log, bad) == []
            assert (await fired(log, good)).count("TrusteeshipEntered") == 1
            failing.stream_id = StreamId("")
            time.seconds += 2
            await eventually(lambda: fired(log, bad))
    assert {(line["event"], line["task"]) for line in lines} == {("met a bug", f"deadline of {bad}")}


async def test_an_outage_of_the_log_blames_nobody(log: MemoryLog, time: VirtualTime) -> None:
    """While the log is away deadlines pass; once it is back they are extended, not expired."""
    silent = Silent(log)
    with capture_logs() as lines:
        async with keeper(silent, time) as replica:
            tables = [await replica.started(company(number)) for number in range(3)]
            silent.silent = True
            await replica.advance(35)
            silent.silent = False
            for table_id in tables:
                await eventually(lambda table_id=table_id: fired(log, table_id))  # type: ignore[misc]
                assert await fired(log, table_id) == ["TurnExtended"]
    assert (
        {"deadline not fired"}
        <= {line["event"] for line in lines}
        <= {"deadline not fired", "deadlines not looked for"}
    )


async def test_many_at_once_are_fired_few_at_a_time(log: MemoryLog, time: VirtualTime) -> None:
    """Thirty overdue tables, two at a time: all expire, and never more than two are under way."""
    watched = Watched(log)
    async with keeper(watched, time, Pace(poll_seconds=0.005, at_once=2)) as replica:
        tables = [await replica.started(company(number)) for number in range(30)]
        watched.most = 0
        await replica.advance(5 + MOMENT)
        for table_id in tables:
            await eventually(lambda table_id=table_id: fired(log, table_id))  # type: ignore[misc]
        assert watched.most == 2


async def test_after_the_end_nothing_fires(log: MemoryLog, time: VirtualTime) -> None:
    """Closed, a replica arms nothing any more, though commands still under way are carried out."""
    async with keeper(log, time, NEVER_POLLS) as replica:
        table_id = await replica.started()
    await move(replica, table_id)
    assert not time.alive


async def test_no_player_is_called_like_the_clock(service: Replica) -> None:
    """Who says he is the clock is not let in."""
    refused = await Client(service.channel, CLOCK).refused(open_table())
    assert refused.code is grpc.StatusCode.UNAUTHENTICATED


class LateClaims(FrontLog):
    """Answers a claim when allowed."""

    def __init__(self, behind: EventLog) -> None:
        super().__init__(behind)
        self.claimed, self.free = asyncio.Event(), asyncio.Event()

    async def claim_due(self, limit: int, lease_seconds: float) -> Sequence[Due]:
        """Claim, and keep the answer back if there is one."""
        found = await self.behind.claim_due(limit, lease_seconds)
        if found:
            self.claimed.set()
            await self.free.wait()
        return found


async def test_what_a_replica_claimed_it_fires_before_it_ends(time: VirtualTime, log: MemoryLog) -> None:
    """It ends while the answer to its claim is under way: nobody has to wait until the claim's lease is over."""
    async with keeper(log, time, NEVER_POLLS) as gone:
        table_id = await gone.started()
    late = LateClaims(log)
    async with keeper(late, time, Pace(poll_seconds=0.005)):
        time.advance(6)
        await late.claimed.wait()
        asyncio.get_running_loop().call_soon(late.free.set)
    assert len(await expiries(log, table_id)) == 1
