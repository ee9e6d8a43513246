"""The flush loop by itself: whose turn it is, and what becomes of those who wait."""

import asyncio
from collections.abc import Sequence

import pytest
from structlog.testing import capture_logs

from baohuang.database.group_commit import Busy, FlushRefused, Pace
from baohuang.eventlog import chain
from baohuang.eventlog.port import (
    NO_HASH,
    NO_VERSION,
    Append,
    ClaimName,
    LogBusy,
    LogClosed,
    OutcomeUnknown,
    StreamId,
    VersionConflict,
)
from baohuang.eventlog.postgres.group_commit import Linked, Settled, log_commits
from baohuang.eventlog.postgres.log import open_log
from eventlog.commands import accepted, command, new_stream

SETTLED = VersionConflict(NO_VERSION, NO_HASH)


def linked(wanted: Append) -> Linked:
    """Chain a command with salts of zeros."""
    return Linked(wanted, chain.link(wanted, [bytes(16)] * len(wanted.events)))


class Gate:
    """A store that answers a flush only when told to, and keeps what it was sent."""

    def __init__(self) -> None:
        self.sent: list[list[StreamId]] = []
        self.open = asyncio.Semaphore(0)
        self.came = asyncio.Event()

    async def __call__(self, batch: Sequence[Linked]) -> Sequence[Settled]:
        """Settle a batch once the gate lets it through."""
        self.sent.append([one.command.stream_id for one in batch])
        self.came.set()
        await self.open.acquire()
        return [SETTLED] * len(batch)


async def test_what_comes_during_a_flush_goes_in_the_next() -> None:
    """One flush is in flight; the next takes one command of every stream that waits, streams taking turns."""
    gate = Gate()
    a, b, c = StreamId("a"), StreamId("b"), StreamId("c")
    async with log_commits(gate, Pace(batch=2)) as commits, asyncio.TaskGroup() as callers:
        callers.create_task(commits.settled(linked(command(a))))
        await gate.came.wait()
        for stream_id in (a, a, b, c):
            callers.create_task(commits.settled(linked(command(stream_id))))
        for _ in range(5):
            gate.open.release()
    assert gate.sent == [[a], [a, b], [c, a]]


async def test_names_are_given_up_first() -> None:
    """Within a flush those who give names up go before those who take some, and the others in between, as they came."""
    gate = Gate()
    name = (ClaimName("wei"),)
    waiting = [
        command(StreamId("takes"), claims=name),
        command(StreamId("plain"), unclaimed=name),
        command(StreamId("changes"), releases=name, claims=name),
        command(StreamId("gives"), releases=name),
        command(StreamId("other")),
    ]
    gate.open.release()
    async with log_commits(gate) as commits:
        await asyncio.gather(*(commits.settled(linked(one)) for one in waiting))
    assert gate.sent == [["gives", "changes", "plain", "other", "takes"]]


async def test_one_request_goes_once_a_flush() -> None:
    """A request sent for two streams is not flushed twice at once, for the store could not tell which was first."""
    gate = Gate()
    a, b = StreamId("a"), StreamId("b")
    gate.open.release()
    gate.open.release()
    async with log_commits(gate) as commits, asyncio.TaskGroup() as callers:
        for stream_id in (a, b):
            callers.create_task(commits.settled(linked(command(stream_id, request_id="same"))))
    assert gate.sent == [[a], [b]]


async def test_who_gives_up_before_the_flush_is_not_sent() -> None:
    """A caller cancelled while his command waits takes it with him; in flight it goes on without him."""
    gate = Gate()
    a, b = StreamId("a"), StreamId("b")
    async with log_commits(gate) as commits:
        flying = asyncio.create_task(commits.settled(linked(command(a))))
        await gate.came.wait()
        waiting = asyncio.create_task(commits.settled(linked(command(b))))
        await asyncio.sleep(0)
        flying.cancel()
        waiting.cancel()
        await asyncio.gather(flying, waiting, return_exceptions=True)
        gate.open.release()
    assert gate.sent == [[a]]


async def test_a_store_that_is_always_busy() -> None:
    """The pause between tries grows, and patience ends with word that nothing was written."""
    tries = 0

    async def busy(batch: Sequence[Linked]) -> Sequence[Settled]:
        nonlocal tries
        tries += 1
        return [Busy.BUSY] * len(batch)

    async with log_commits(busy, Pace(patience=0.2, first_pause=0.01, longest_pause=0.04)) as commits:
        with pytest.raises(LogBusy):
            await commits.settled(linked(command(new_stream())))
    # 10 + 20 + 40 + 40 + … ms in 200 ms.
    assert 3 <= tries <= 9


async def test_busy_streams_do_not_slow_the_others() -> None:
    """While one stream is busy another is settled at once, not after the pause."""

    async def send(batch: Sequence[Linked]) -> Sequence[Settled]:
        return [Busy.BUSY if one.command.stream_id == "busy" else SETTLED for one in batch]

    async with log_commits(send, Pace(patience=30, first_pause=20, longest_pause=20)) as commits:
        stuck = asyncio.create_task(commits.settled(linked(command(StreamId("busy")))))
        async with asyncio.timeout(5):
            for _ in range(10):
                assert await commits.settled(linked(command(new_stream()))) == SETTLED
        assert not stuck.done()
        stuck.cancel()
        await asyncio.gather(stuck, return_exceptions=True)


async def test_a_refused_flush_is_sent_one_by_one() -> None:
    """When the store refuses a flush as a whole each command goes alone, and only the culprit is refused again."""
    sent: list[int] = []

    async def send(batch: Sequence[Linked]) -> Sequence[Settled]:
        sent.append(len(batch))
        if any(one.command.stream_id == "culprit" for one in batch):
            raise FlushRefused(LogBusy("no"))
        return [SETTLED] * len(batch)

    async with log_commits(send, Pace(patience=0.1)) as commits:
        wanted = [command(StreamId(name)) for name in ("a", "b", "culprit", "c")]
        outcomes = await asyncio.gather(*(commits.settled(linked(one)) for one in wanted), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [VersionConflict, VersionConflict, LogBusy, VersionConflict]
    assert sent[:2] == [4, 1]
    assert set(sent[1:]) == {1}


async def test_a_bug_hurts_the_flush_that_met_it_alone() -> None:
    """Who was in it is told that the outcome is not known, the bug is logged, and the next flush goes on."""
    bugs = [ZeroDivisionError("a bug")]

    async def send(batch: Sequence[Linked]) -> Sequence[Settled]:
        await asyncio.sleep(0)
        if bugs:
            raise bugs.pop()
        return [SETTLED] * len(batch)

    with capture_logs() as logged:
        async with log_commits(send) as commits:
            with pytest.raises(OutcomeUnknown):
                await commits.settled(linked(command(new_stream())))
            assert await commits.settled(linked(command(new_stream()))) == SETTLED
    (line,) = logged
    assert (line["event"], line["log_level"]) == ("flush failed by a bug", "error")
    assert isinstance(line["exc_info"], ZeroDivisionError)


async def test_flushes_keep_their_distance() -> None:
    """With time between flushes one that comes alone goes at once, and those that come then go together."""
    gate = Gate()
    gate.open.release()
    gate.open.release()
    loop = asyncio.get_running_loop()
    began = loop.time()
    async with log_commits(gate, Pace(between=0.2)) as commits, asyncio.TaskGroup() as callers:
        await commits.settled(linked(command(StreamId("a"))))
        assert loop.time() - began < 0.2
        for name in ("b", "c", "d"):
            callers.create_task(commits.settled(linked(command(StreamId(name)))))
            # Each comes by itself.
            await asyncio.sleep(0)
    assert gate.sent == [["a"], ["b", "c", "d"]]
    assert loop.time() - began >= 0.2


async def test_a_flush_is_kept_open_for_what_is_on_its_way() -> None:
    """As long as each few turns of the loop bring another command it goes with them; a later one goes with the next."""
    gate = Gate()
    gate.open.release()
    gate.open.release()

    async def append_after(turns: int, name: str) -> None:
        for _ in range(turns):
            await asyncio.sleep(0)
        await commits.settled(linked(command(StreamId(name))))

    async with log_commits(gate, Pace(turns=4)) as commits, asyncio.TaskGroup() as callers:
        for turns, name in ((0, "a"), (2, "b"), (5, "c"), (20, "d")):
            callers.create_task(append_after(turns, name))
    assert gate.sent == [["a", "b", "c"], ["d"]]


async def test_a_flush_is_not_kept_open_for_ever() -> None:
    """However steadily commands come, some of them go before the last has come."""
    gate, commands = Gate(), 200
    for _ in range(commands):
        gate.open.release()

    async def append_after(turns: int) -> None:
        for _ in range(turns):
            await asyncio.sleep(0)
        await commits.settled(linked(command(new_stream())))

    async with log_commits(gate, Pace(turns=4, batch=commands)) as commits, asyncio.TaskGroup() as callers:
        for turns in range(commands):
            callers.create_task(append_after(turns))
    assert len(gate.sent) > 1
    assert sum(map(len, gate.sent)) == commands


async def test_too_many_waiting() -> None:
    """The queue is bounded: one command too many is told to come again."""
    gate = Gate()
    async with log_commits(gate, Pace(waiting=2)) as commits, asyncio.TaskGroup() as callers:
        callers.create_task(commits.settled(linked(command(new_stream()))))
        await gate.came.wait()
        for _ in range(2):
            callers.create_task(commits.settled(linked(command(new_stream()))))
        await asyncio.sleep(0)
        with pytest.raises(LogBusy):
            await commits.settled(linked(command(new_stream())))
        for _ in range(3):
            gate.open.release()


async def test_closing_drains(own_database_dsn: str) -> None:
    """What waits when the log is closed is still appended; what comes later is refused."""
    async with open_log(own_database_dsn) as log:
        waiting = [asyncio.create_task(accepted(log, command(new_stream()))) for _ in range(30)]
        await asyncio.sleep(0)
    assert sorted([(await one).position for one in waiting]) == list(range(1, 31))
    with pytest.raises(LogClosed):
        await log.append(command(new_stream()))
