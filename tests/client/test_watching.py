"""A watch gives every version once and in order, whatever becomes of its streams, and believes no hash unchecked."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import Any

import pytest

from baohuang.client import Moment, NotFoundError, Patience, SlowDownError, UnreachableError, ViewBrokenError, connect
from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import StreamId
from baohuang.gen.events.v1 import events_pb2, seats_pb2
from baohuang.gen.table.v1 import watch_pb2
from baohuang.rpc.credentials import DevelopmentIdentity
from baohuang.rpc.errors import Exhausted, Reason
from baohuang.rules.commands import Yield
from baohuang.rules.redact import mask
from baohuang.rules.state import PlayerId, TableId
from client.in_process import ALICE, Service, running
from client.scripted import BROKEN, saying

Said = watch_pb2.WatchTableResponse


async def _take(watch: Any, moments: list[Moment], version: int) -> None:
    """Take moments up to the version."""
    async for moment in watch:
        moments.append(moment)
        if moment.version >= version:
            return


async def _recorded(service: Service, steps: int) -> tuple[TableId, list[Said]]:
    """Return what the service itself says to a watcher: a snapshot of version 2, then `steps` updates."""
    async with service.client() as alice:
        table_id = (await alice.open_table("ourgame-simple")).table_id
        said: list[Said] = []
        stream: Any = alice._open_stream(watch_pb2.WatchTableRequest(table_id=table_id))
        said.append(await stream.read())
        await alice.sit_down(table_id, 1)
        for step in range(steps - 1):
            await alice.set_ready(table_id, ready=step % 2 == 0, entropy=f"step {step}")
        while len(said) <= steps:
            said.append(await stream.read())
        stream.cancel()
        return table_id, said


async def test_a_watch_starts_with_a_snapshot_and_goes_on_version_by_version() -> None:
    """The state after each update is what the service itself says of that version."""
    async with running() as service, service.client() as alice:
        table_id = (await alice.open_table("ourgame-simple")).table_id
        moments: list[Moment] = []
        async with aclosing(alice.watch(table_id)) as watch:
            await _take(watch, moments, 2)
            await alice.sit_down(table_id, 4)
            await alice.set_ready(table_id, ready=True)
            await _take(watch, moments, 4)
        assert [moment.version for moment in moments] == [2, 3, 4]
        assert moments[-1].table == mask(await service.table(table_id), None)
        assert [bool(moment.update) for moment in moments] == [False, True, True]


async def test_no_such_table_ends_the_watch() -> None:
    """What another stream would not mend is raised."""
    async with running() as service, service.client() as alice:
        with pytest.raises(NotFoundError):
            await _take(alice.watch(TableId("00000000-0000-7000-8000-000000000000")), [], 1)


async def test_a_watch_resumes_when_the_service_comes_back() -> None:
    """The server goes away twice, in order, and is started again on its log and port: nothing repeated or skipped."""
    log, moments = MemoryLog(), list[Moment]()
    async with running(log) as service:
        port = service.port
        async with service.client() as alice:
            table_id = (await alice.open_table("ourgame-simple")).table_id
            for seat, player in enumerate(map(PlayerId, "bcdef")):
                async with service.client(player) as client:
                    await client.sit_down(table_id, seat)
                    await client.set_ready(table_id, ready=True)
        started = await log.head(StreamId(table_id))
        assert started is not None
        watcher = connect(service.address, DevelopmentIdentity(ALICE))
        alice = await watcher.__aenter__()
        watch = alice.watch(table_id)
        await _take(watch, moments, started.version)
    for _ in range(2):
        missed = await _one_move(log, port, table_id)
        async with running(log, port) as service:
            await _take(watch, moments, missed)
            live = await _move(service, table_id)
            await _take(watch, moments, live)
    await watcher.__aexit__(None, None, None)
    assert [moment.version for moment in moments] == list(range(started.version, live + 1))
    assert moments[-1].table == mask(await service.table(table_id), None)


async def _one_move(log: MemoryLog, port: int, table_id: TableId) -> int:
    """Let another replica take one move while the watched one is away; return the version after it."""
    async with running(log) as other:
        assert other.port != port
        return await _move(other, table_id)


async def _move(service: Service, table_id: TableId) -> int:
    """Let the seat that is asked for the crown refuse it, and return the version after it."""
    table = await service.table(table_id)
    assert table.hand is not None
    assert table.hand.turn is not None
    async with service.client(table.hand.players[table.hand.turn]) as client:
        return (await client.act(table_id, Yield())).version


async def test_a_table_nobody_serves_any_more_ends_the_watch() -> None:
    """After the last attempt the watch raises UnreachableError instead of waiting for ever."""
    patience = Patience(attempts=3, first_wait_seconds=0.01, longest_wait_seconds=0.02, spread_seconds=0.01)
    async with running() as service:
        watcher = connect(service.address, DevelopmentIdentity(ALICE), patience)
        alice = await watcher.__aenter__()
        table_id = (await alice.open_table("ourgame-simple")).table_id
        watch = alice.watch(table_id)
        await _take(watch, [], 2)
    with pytest.raises(UnreachableError):
        await _take(watch, [], 3)
    await watcher.__aexit__(None, None, None)


def _another_actor(update: watch_pb2.Update) -> None:
    update.actor = "mallory"


def _another_time(update: watch_pb2.Update) -> None:
    update.recorded_at = "2001-01-01T00:00:00.000000Z"


def _another_seat(update: watch_pb2.Update) -> None:
    update.event.CopyFrom(events_pb2.Event(player_sat=seats_pb2.PlayerSat(seat=2, player="alice")))


def _another_hidden_part(update: watch_pb2.Update) -> None:
    update.hidden_digest = bytes(32)


def _another_hash(update: watch_pb2.Update) -> None:
    update.hash = bytes(32)


def _another_version(update: watch_pb2.Update) -> None:
    update.version += 1


@pytest.mark.parametrize(
    "tamper",
    [_another_actor, _another_time, _another_seat, _another_hidden_part, _another_hash, _another_version],
)
async def test_a_changed_update_breaks_the_watch(tamper: Callable[[watch_pb2.Update], None]) -> None:
    """Whatever is changed in an update, the chain of hashes no longer holds; unchanged, it does."""
    async with running() as service:
        table_id, said = await _recorded(service, 3)
    async with saying(said) as (alice, _):
        seen: list[Moment] = []
        await _take(alice.watch(table_id), seen, 5)
        assert [moment.version for moment in seen] == [2, 3, 4, 5]
    tamper(said[1].update)
    async with saying(said) as (alice, _):
        with pytest.raises(ViewBrokenError):
            await _take(alice.watch(table_id), [], 5)


@pytest.mark.parametrize("left", [(1, 3), (2, 1), (1, 1)], ids=["one missing", "swapped", "repeated"])
async def test_updates_out_of_order_break_the_watch(left: tuple[int, int]) -> None:
    """A missing, a swapped and a repeated update are noticed by their versions."""
    async with running() as service:
        table_id, said = await _recorded(service, 3)
    async with saying([said[0], *(said[index] for index in left)]) as (alice, _):
        with pytest.raises(ViewBrokenError):
            await _take(alice.watch(table_id), [], 5)


_AHEAD = Said(heartbeat=watch_pb2.Heartbeat(version=9))
_IN_STEP = Said(heartbeat=watch_pb2.Heartbeat(version=3))
_AWAY = Said(reconnect=watch_pb2.Reconnect(version=3, reason=watch_pb2.RECONNECT_REASON_DRAINING))
_NEWER = Said(update=watch_pb2.Update(version=4, recorded_at="2001-01-01T00:00:00.000000Z"))


_TOO_MANY = Exhausted(Reason.TOO_MANY_STREAMS, "you have 100 streams open here")


async def test_a_lost_stream_that_is_counted_still_is_waited_for() -> None:
    """The service has not missed it yet, and takes the next one for one too many: that passes."""
    async with running() as service:
        table_id, said = await _recorded(service, 3)
    async with saying(said[:2], [_TOO_MANY], [_TOO_MANY], said[2:]) as (alice, tables):
        moments: list[Moment] = []
        await _take(alice.watch(table_id), moments, 5)
    assert [moment.version for moment in moments] == [2, 3, 4, 5]
    assert tables.asked_after == [0, 3, 3, 3]


async def test_one_stream_too_many_is_told_at_once() -> None:
    """Where no stream was lost, waiting does not help."""
    async with saying([_TOO_MANY]) as (alice, tables):
        with pytest.raises(SlowDownError):
            await anext(alice.watch(TableId("01980000-0000-7000-8000-000000000000")))
    assert len(tables.asked_after) == 1


@pytest.mark.parametrize(
    "ending",
    [[], [_AHEAD], [_AWAY], [_IN_STEP, _IN_STEP, _AWAY], [Exhausted(Reason.SLOW_READER, "too slow")], [BROKEN]],
    ids=[
        "the stream ends",
        "a heartbeat ahead",
        "sent away",
        "after heartbeats",
        "too slow a reader",
        "the network breaks it",
    ],
)
async def test_a_stream_that_ends_is_resumed_after_the_last_version(ending: Sequence[Any]) -> None:
    """However a stream ends, the next one is asked for after the last version seen."""
    async with running() as service:
        table_id, said = await _recorded(service, 3)
    async with saying([*said[:2], *ending], said[2:]) as (alice, tables):
        seen: list[Moment] = []
        await _take(alice.watch(table_id), seen, 5)
        assert [moment.version for moment in seen] == [2, 3, 4, 5]
        assert tables.asked_after == [0, 3]


async def test_an_event_of_a_newer_service_is_stepped_over_by_a_snapshot() -> None:
    """An event that this client does not know makes it begin anew with a snapshot."""
    async with running() as service:
        table_id, said = await _recorded(service, 3)
        async with service.client() as alice:
            stream = alice._open_stream(watch_pb2.WatchTableRequest(table_id=table_id))
            snapshot: Any = await stream.read()
            stream.cancel()
    async with saying([*said[:2], _NEWER], [snapshot]) as (alice, tables):
        seen: list[Moment] = []
        await _take(alice.watch(table_id), seen, 5)
        assert [moment.version for moment in seen] == [2, 3, 5]
        assert tables.asked_after == [0, 0]


async def test_a_table_that_went_back_breaks_the_watch() -> None:
    """A snapshot older than what was seen, or of the same version with another hash, is no way to go on."""
    async with running() as service:
        table_id, said = await _recorded(service, 1)
    async with saying([*said, said[0]]) as (alice, _):
        with pytest.raises(ViewBrokenError):
            await _take(alice.watch(table_id), [], 4)
    changed = Said()
    changed.CopyFrom(said[0])
    changed.snapshot.hash = bytes(32)
    async with saying([said[0], changed]) as (alice, _):
        with pytest.raises(ViewBrokenError):
            await _take(alice.watch(table_id), [], 4)


async def test_silence_is_no_state_to_wait_in() -> None:
    """A stream that says nothing for too long is given up, and another one is asked for."""
    patience = Patience(silence_seconds=0.2, first_wait_seconds=0.01, spread_seconds=0.01)
    async with running() as service, connect(service.address, DevelopmentIdentity(ALICE), patience) as alice:
        table_id = (await alice.open_table("ourgame-simple")).table_id
        moments: list[Moment] = []
        async with aclosing(alice.watch(table_id)) as watch:
            await _take(watch, moments, 2)
            waiting = asyncio.create_task(_take(watch, moments, 3))
            _, pending = await asyncio.wait({waiting}, timeout=0.5)
            assert pending
            await alice.sit_down(table_id, 0)
            await waiting
        assert [moment.version for moment in moments] == [2, 3]
