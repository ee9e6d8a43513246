"""What the clock does between hands: TABLE-1, by the same timers as turns."""

import asyncio
from collections.abc import Sequence

import pytest

from baohuang.eventlog.codec import decode
from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import StreamId
from baohuang.rules.clock import deadline_of
from baohuang.rules.commands import OpenTable, SetReady, SitDown
from baohuang.rules.events import PlayerUnseated, TableClosed
from baohuang.rules.rulesets import Options
from baohuang.rules.seating import ABANDONED_SECONDS, READY_SECONDS, WAITING_SECONDS
from baohuang.rules.state import ClosingReason, TableId, TableStatus, UnseatingReason
from eventually import eventually
from tables.virtual_time import NEVER_POLLS, PLAYERS, Keeper, VirtualTime, keeper

MOMENT = 0.1


@pytest.fixture
def time() -> VirtualTime:
    """Give a time that goes on only when told to."""
    return VirtualTime()


@pytest.fixture
def log(time: VirtualTime) -> MemoryLog:
    """Give a log whose clock is that time."""
    return MemoryLog(time.now)


async def unseated(log: MemoryLog, table_id: TableId) -> Sequence[tuple[int, UnseatingReason]]:
    """Return who lost his seat, and why, in order."""
    events = [decode(one.type, one.data) for one in await log.read_stream(StreamId(table_id))]
    return [(event.seat, event.reason) for event in events if isinstance(event, PlayerUnseated)]


async def opened(replica: Keeper, name: str = "t") -> TableId:
    """Open a table at which nobody sits."""
    table_id = TableId(name)
    await replica.act(table_id, PLAYERS[0], OpenTable(table_id, "ourgame-simple", Options()))
    return table_id


async def test_who_is_not_ready_in_time_loses_his_seat(log: MemoryLog, time: VirtualTime) -> None:
    """At his deadline, not before; the others' deadlines go on; the last one's leaves the table to close."""
    async with keeper(log, time, NEVER_POLLS) as replica:
        table_id = await opened(replica)
        await replica.act(table_id, PLAYERS[0], SitDown(0))
        await replica.advance(60)
        await replica.act(table_id, PLAYERS[1], SitDown(1))
        await replica.act(table_id, PLAYERS[1], SetReady(ready=True))
        await replica.advance(READY_SECONDS - 60)
        assert await unseated(log, table_id) == []
        await replica.advance(MOMENT)
        assert await unseated(log, table_id) == [(0, UnseatingReason.NOT_READY)]
        await replica.advance(WAITING_SECONDS)
        assert (await unseated(log, table_id))[1:] == [(1, UnseatingReason.WAITED_TOO_LONG)]
        assert (await replica.table(table_id)).status is TableStatus.OPEN
        await replica.advance(ABANDONED_SECONDS + MOMENT)
        assert (await replica.table(table_id)).status is TableStatus.CLOSED
        assert not time.alive


async def test_an_abandoned_table_closes_though_its_replica_died(log: MemoryLog, time: VirtualTime) -> None:
    """The timer is the log's: a replica that has never heard of the table finds it by polling."""
    async with keeper(log, time, NEVER_POLLS) as dying:
        table_id = await opened(dying)
    time.seconds += ABANDONED_SECONDS + 60
    async with keeper(log, time) as living:

        async def closed() -> bool:
            return (await living.table(table_id)).status is TableStatus.CLOSED

        await eventually(closed)
    last = (await log.read_stream(StreamId(table_id)))[-1]
    event = decode(last.type, last.data)
    assert isinstance(event, TableClosed)
    assert (event.reason, last.actor) == (ClosingReason.ABANDONED, "@clock")
    assert not await log.claim_due(10, 1.5)


async def test_two_replicas_unseat_once(log: MemoryLog, time: VirtualTime) -> None:
    """Both have a timer: one ruling for each sitter, and one closing."""
    async with keeper(log, time, NEVER_POLLS) as a, keeper(log, time, NEVER_POLLS) as b:
        table_id = await a.seated()
        await b.tables.hold(table_id)
        for seconds in (READY_SECONDS, ABANDONED_SECONDS):
            for replica in (a, b):
                await replica.tables.current(table_id)
            time.advance(seconds + MOMENT)
            await asyncio.gather(a.fired(), b.fired())
    assert [seat for seat, _ in await unseated(log, table_id)] == [0, 1, 2, 3, 4]
    types = [event.type for event in await log.read_stream(StreamId(table_id))]
    assert types.count("TableClosed") == 1


async def test_getting_ready_at_the_last_moment(log: MemoryLog, time: VirtualTime) -> None:
    """Five who are ready in time play: no deadline of the time before fires in their hand."""
    async with keeper(log, time, NEVER_POLLS) as replica:
        table_id = await replica.seated()
        await replica.advance(READY_SECONDS - 1)
        await replica.all_ready(table_id)
        table = await replica.table(table_id)
        assert table.hand is not None
        assert deadline_of(table) == table.hand.due_at
        await replica.advance(2)
        assert await unseated(log, table_id) == []
