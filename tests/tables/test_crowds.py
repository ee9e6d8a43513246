"""The service as a whole, under everything people, lines, clocks and the log do to it at once.

What must hold is in `audit`. A failure names the shortest run of the same seed that fails, to be run again by hand.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random

import pytest
from structlog.testing import capture_logs

from baohuang.audit.log import LogAudit
from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import StreamId
from baohuang.eventlog.postgres.log import open_log
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.rules.redact import mask
from baohuang.rules.rulesets import RULESETS
from bench.random_player import chance_of
from eventually import eventually
from table_service.deadlines import Pace
from table_service.wiring import Limits, Timing
from tables.audit import check_answers, check_clock, check_people, check_rulings, check_turns, history, seat_in
from tables.clients import Client
from tables.crowd import TURN_SECONDS, Place, Spectator, Weather, crowd
from tables.replicas import Replica, replica
from tables.virtual_time import VirtualTime

ROUNDS = 160
MOMENTS = 12
"""Milliseconds that the others get to see what was done."""
LIMITS = Limits(heartbeat_seconds=0.02, deadlines=Pace(poll_seconds=0.02))
REPLICAS = (0, 1)
MINUTES = 130.0
"""Seconds in which everybody is missed who is waited for, at a hand or before one."""


@dataclass(slots=True)
class Sky:
    """Time and weather over the crowd: here real time, which goes on by itself."""

    dice: Random
    logs: Sequence[Weather]
    ahead: list[float] = field(default_factory=lambda: [0.0, 0.0])

    def timing(self, number: int) -> Timing:  # noqa: ARG002 - real time is everybody's
        """Return where a replica has its time from."""
        return Timing()

    async def turn(self) -> None:
        """Change the weather."""
        losing = self.dice.choice((0.0, 0.0, 0.0, 0.3))
        for log in self.logs:
            log.losing = losing

    def clear(self) -> None:
        """Let nothing more go wrong."""
        self.ahead[1] = 0.0
        for log in self.logs:
            log.losing = 0.0


@dataclass(slots=True)
class VirtualSky(Sky):
    """Time that goes on when the dice say so, on one log in memory."""

    time: VirtualTime = field(default_factory=VirtualTime)

    def timing(self, number: int) -> Timing:
        """Return where a replica has its time from."""
        return Timing(lambda: self.time.seconds + self.ahead[number], self.time.call_later)

    async def turn(self) -> None:
        """Let some time pass: none, seconds, a whole turn; so much, unseen by timers, that grace is over; minutes."""
        await Sky.turn(self)
        self.ahead[1] = self.dice.choice((0.0, 0.0, 0.0, 5.0))
        match self.dice.randrange(100):
            case 0:
                self.time.advance(TURN_SECONDS + 0.1)
            case 1:
                self.time.seconds += 2 * TURN_SECONDS
                self.time.advance(0)
            case 2:
                self.time.advance(MINUTES)
            case number if number < 50:
                self.time.advance(self.dice.random())


def virtual_sky(*seed: object) -> VirtualSky:
    """Return a sky over a log in memory, which both replicas share."""
    dice, time = chance_of("sky", *seed), VirtualTime()
    log = Weather(MemoryLog(time.now), time.now, dice)
    return VirtualSky(dice, (log, log), time=time)


@pytest.mark.parametrize("ruleset", RULESETS)
async def test_a_crowd_in_memory(ruleset: str) -> None:
    """Whatever is done: one outcome a turn and a request, right and contiguous streams, no secret told, true rulings.

    Every chain holds, points sum to zero, no clock ends a turn early, and nothing is blamed on whom it is not due.
    """
    try:
        await run(ruleset, ROUNDS)
    except AssertionError as failure:
        failure.add_note(f"the shortest that fails: {await shortest(ruleset)} rounds of {ruleset}")
        raise


async def run(ruleset: str, rounds: int) -> None:
    """Let a crowd be at its tables in memory for so many rounds, and audit it."""
    sky = virtual_sky(ruleset)
    async with gathered(sky, ruleset, rounds) as (place, people):
        await at_last(sky, place, people)
    await audit(sky, place, people)


async def shortest(ruleset: str) -> int:
    """Return the fewest rounds, doubled from ten on, that fail."""
    rounds = 10
    while rounds < ROUNDS:
        try:
            await run(ruleset, rounds)
        except AssertionError:
            break
        rounds *= 2
    return min(rounds, ROUNDS)


async def test_a_crowd_over_postgres(own_database_dsn: str) -> None:
    """The same over the log that is durable, each replica with pools of its own, in real time.

    In the end nobody moves until a turn expires by itself.
    """
    dice = chance_of("postgres")
    async with open_log(own_database_dsn) as first, open_log(own_database_dsn) as second:
        logs = [Weather(log, lambda: datetime.now(UTC), dice) for log in (first, second)]
        sky = Sky(dice, logs)
        async with gathered(sky, "homy-weihai", ROUNDS) as (place, people):
            sky.clear()
            before = await missed(place)
            await eventually(lambda: is_missed(place, before), within=30)
            await at_last(sky, place, people)
        await audit(sky, place, people)


async def missed(place: Place) -> int | None:
    """Return how often a seat of the hand entered trusteeship; None if nobody has to act."""
    table = (await Client(place.replicas[0].channel, "olga").call(pb.GetTableRequest(table_id=place.table_id))).table
    return sum(standing.entries for standing in table.hand.trusteeships) if table.hand.due_at else None


async def is_missed(place: Place, before: int | None) -> bool:
    """Tell whether one more turn was missed, or there is none to miss."""
    now = await missed(place)
    return now is None or (before is not None and now > before)


@asynccontextmanager
async def gathered(sky: Sky, ruleset: str, rounds: int) -> AsyncIterator[tuple[Place, Sequence[Spectator]]]:
    """Serve on two replicas, and let a crowd be at its tables for so many rounds; the service logs no error."""
    with capture_logs() as lines:
        async with AsyncExitStack() as stack:
            place = Place([await stack.enter_async_context(serving(sky, number)) for number in REPLICAS], ruleset)
            people = crowd(place, ruleset)
            await place.open(Client(place.replicas[0].channel, "an"))
            for _ in range(rounds):
                await one_round(sky, place, people)
            yield place, people
    assert not [line for line in lines if line["log_level"] == "error"]


@asynccontextmanager
async def serving(sky: Sky, number: int) -> AsyncIterator[Replica]:
    """Give one of the replicas."""
    async with replica(sky.logs[number], LIMITS, timing=sky.timing(number), rate_limit_per_second=math.inf) as one:
        yield one


async def one_round(sky: Sky, place: Place, people: Sequence[Spectator]) -> None:
    """Let some act at once while time passes, then give the others a moment to see it."""
    acting = sky.dice.sample(people, sky.dice.randint(3, len(people)))
    await asyncio.gather(sky.turn(), *(person.step() for person in acting))
    head = await sky.logs[0].head(StreamId(place.table_id))
    version = head.version if head else 0
    for _ in range(MOMENTS):
        if all(person.viewer.version >= version for person in people if person.watches):
            return
        await asyncio.sleep(0.001)


async def at_last(sky: Sky, place: Place, people: Sequence[Spectator]) -> None:
    """Let all come back and see the end."""
    sky.clear()

    async def all_there() -> bool:
        for person in people:
            await person.at_last()
        head = await sky.logs[0].head(StreamId(place.table_id))
        return head is not None and all(person.viewer.version == head.version for person in people)

    await eventually(all_there, within=30)
    for person in people:
        await person.go()


async def audit(sky: Sky, place: Place, people: Sequence[Spectator]) -> None:
    """Check everything."""
    log = sky.logs[0]
    check_answers(place.ledger, await log.read_all(limit=1_000_000))
    viewers = {person.name: person.viewers for person in people}
    appended_at = {place: moment for log in sky.logs for place, moment in log.appended_at.items()}
    for table_id in place.tables:
        lines = await history(log, table_id)
        check_turns(lines)
        check_clock(lines, appended_at)
        check_rulings(lines)
        check_people(lines, viewers, place.views)
        assert [finding async for finding in LogAudit(log).stream(StreamId(table_id))] == []
    end = (await history(log, place.table_id))[-1].after
    for person in people:
        assert person.viewer.table == mask(end, seat_in(end, person.name))
