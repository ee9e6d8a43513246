"""What one replica appends reaches the watchers of another: by a poke over NATS at once, without NATS by polling."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from baohuang.embedded.nats import EmbeddedNats
from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import EventLog, StreamId, Version
from baohuang.rules.state import TableId
from baohuang.stream import subjects
from baohuang.stream.link import Link
from bench.random_player import chance_of
from eventually import eventually
from table_service.pokes import OnNats
from table_service.wiring import Limits
from tables.clients import Client, sit
from tables.games import PLAYERS, Game, opened, started
from tables.replicas import replica
from tables.viewers import Viewer

NEVER_POLLS = Limits(poll_seconds=3600.0)
SECONDS = 30.0
"""How long a test waits for what has to come; it comes in milliseconds."""


@pytest.fixture
async def nats_server(tmp_path: Path) -> AsyncIterator[EmbeddedNats]:
    """Give a nats-server that is not started yet."""
    server = EmbeddedNats(tmp_path)
    yield server
    await server.destroy()


@dataclass(frozen=True, slots=True)
class Watched:
    """A table opened on replica A, and somebody who watches it on replica B; `lines` are what both log."""

    game: Game
    viewer: Viewer
    lines: Sequence[Mapping[str, object]]

    async def arrives(self, version: int) -> None:
        """Wait until the viewer has a version."""

        async def there() -> bool:
            return self.viewer.version >= version

        await eventually(there, within=SECONDS)

    async def logged(self, event: str, times: int) -> None:
        """Wait until a line was logged so often."""
        await eventually(lambda: _said(self.lines, event, times), within=SECONDS)


async def _said(lines: Sequence[Mapping[str, object]], event: str, times: int) -> bool:
    return [line["event"] for line in lines].count(event) >= times


@asynccontextmanager
async def watched(log: EventLog, url: str | None, limits: Limits) -> AsyncIterator[Watched]:
    """Serve, open and watch; the viewer reads on until the end of the block."""
    with capture_logs() as lines:
        async with (
            replica(log, limits, nats=_address(url, "a")) as a,
            replica(log, limits, nats=_address(url, "b")) as b,
        ):
            game = await opened(a)
            viewer = Viewer(Client(b.channel, "watcher"), game.table_id)
            reading = asyncio.create_task(viewer.reach(10_000))
            await viewer.opened.wait()
            yield Watched(game, viewer, lines)
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)


def _address(url: str | None, name: str) -> OnNats | None:
    return OnNats(url, name) if url else None


async def test_a_poke_brings_it_without_any_poll(nats_server: EmbeddedNats) -> None:
    """Replicas that poll once an hour: each event on A reaches the watcher on B at once, contiguous."""
    async with watched(MemoryLog(), await nats_server.start(), NEVER_POLLS) as at:
        await at.logged("NATS is there", 2)
        for seat, client in enumerate(at.game.clients):
            await at.arrives((await client.call(sit(at.game.table_id, seat))).version)
    assert [update.actor for update in at.viewer.updates] == list(PLAYERS)


async def test_fifty_events_after_moving_to_another_replica(nats_server: EmbeddedNats) -> None:
    """A player watches on A, then on B: fifty events made on A arrive there, each once; none on the stale stream."""
    url, log, chance = await nats_server.start(), MemoryLog(), chance_of("moves over")
    with capture_logs() as lines:
        async with (
            replica(log, NEVER_POLLS, nats=_address(url, "a")) as a,
            replica(log, NEVER_POLLS, nats=_address(url, "b")) as b,
        ):
            game = await started(a)
            await eventually(lambda: _said(lines, "NATS is there", 2), within=SECONDS)
            stale = Viewer(Client(a.channel, "an"), game.table_id)
            staying = asyncio.create_task(stale.watch(lambda: False))
            await stale.opened.wait()
            version = stale.version
            fresh = Viewer(Client(b.channel, "an"), game.table_id, version, stale.table)
            moved = asyncio.create_task(fresh.reach(version + 50))
            await asyncio.wait_for(staying, SECONDS)
            while (await game.head()).version < version + 50:
                await game.step(chance)
            await asyncio.wait_for(moved, SECONDS)
    assert [update.version for update in fresh.updates] == list(range(version + 1, version + 51))
    assert stale.received[-1].taken_over.version == version
    assert stale.version == version


async def test_without_nats_a_poll_brings_it() -> None:
    """Replicas that know of no NATS, with the poll that all have: it arrives, by the log alone."""
    async with watched(MemoryLog(), None, Limits()) as at:
        for seat, client in enumerate(at.game.clients[:3]):
            await at.arrives((await client.call(sit(at.game.table_id, seat))).version)
    assert [update.actor for update in at.viewer.updates] == list(PLAYERS[:3])


async def test_nats_may_go_and_come_back(nats_server: EmbeddedNats) -> None:
    """There, pokes alone; away, commands go on and fail nobody; back, the next poke brings all that was missed."""
    async with watched(MemoryLog(), await nats_server.start(), NEVER_POLLS) as at:
        await at.logged("NATS is there", 2)
        first, second, third, *_ = at.game.clients
        await at.arrives((await first.call(sit(at.game.table_id, 0))).version)
        await nats_server.stop()
        await at.logged("NATS is away", 2)
        await second.call(sit(at.game.table_id, 1))
        await nats_server.start()
        await at.logged("NATS is there", 4)
        await at.arrives((await third.call(sit(at.game.table_id, 2))).version)
    assert [update.actor for update in at.viewer.updates] == list(PLAYERS[:3])


async def test_a_poll_does_what_pokes_do_while_nats_is_away(nats_server: EmbeddedNats) -> None:
    """NATS was there and is gone: the poll brings it."""
    async with watched(MemoryLog(), await nats_server.start(), Limits()) as at:
        await at.logged("NATS is there", 2)
        await nats_server.stop()
        await at.logged("NATS is away", 2)
        await at.arrives((await at.game.clients[0].call(sit(at.game.table_id, 0))).version)
    assert [update.actor for update in at.viewer.updates] == ["an"]


async def test_pokes_that_are_none_do_no_harm(nats_server: EmbeddedNats) -> None:
    """Garbage, versions that never were, tables nobody has: nobody is told anything, and true pokes still work."""
    url = await nats_server.start()
    async with watched(MemoryLog(), url, NEVER_POLLS) as at, Link(url, "stranger", {}) as stranger:
        await at.logged("NATS is there", 3)
        table_id = TableId(at.game.table_id)
        for payload in (
            b"",
            b"\xff",
            b"{}",
            b'{"version":"x"}',
            b'{"version":-1}',
            b'{"version":1e99}',
            b'{"version":99}',
        ):
            stranger.publish(subjects.table_subject(table_id), payload)
        stranger.publish(subjects.table_subject(TableId("none")), subjects.encode(subjects.TablePoke(Version(3))))
        await at.arrives((await at.game.clients[0].call(sit(at.game.table_id, 0))).version)
    assert [update.actor for update in at.viewer.updates] == ["an"]


async def test_a_replica_holds_what_is_watched() -> None:
    """Room for one table, and three watched: none is dropped, so none misses anything."""
    log = MemoryLog()
    async with replica(log) as a, replica(log, Limits(tables_held=1)) as b:
        games = [await opened(a) for _ in range(3)]
        viewers = [Viewer(Client(b.channel, "watcher"), game.table_id) for game in games]
        reading = [asyncio.create_task(viewer.reach(3)) for viewer in viewers]
        await asyncio.gather(*(viewer.opened.wait() for viewer in viewers))
        for game in games:
            await game.clients[0].call(sit(game.table_id, 0))
        await asyncio.wait_for(asyncio.gather(*reading), SECONDS)
    for viewer in viewers:
        assert [update.version for update in viewer.updates] == [3]


async def test_one_query_polls_for_all_watchers() -> None:
    """Ten watchers of two tables: every look at the log asks for the two at once, whoever watches."""
    log = Asked()
    async with replica(log, Limits(poll_seconds=0.01)) as a:
        games = [await opened(a) for _ in range(2)]
        viewers = [Viewer(Client(a.channel, f"w{number}"), games[number % 2].table_id) for number in range(10)]
        reading = [asyncio.create_task(viewer.reach(10_000)) for viewer in viewers]
        await asyncio.gather(*(viewer.opened.wait() for viewer in viewers))
        log.asked.clear()

        async def looked() -> bool:
            return len(log.asked) >= 5

        await eventually(looked, within=SECONDS)
        for task in reading:
            task.cancel()
        await asyncio.gather(*reading, return_exceptions=True)
    assert set(log.asked[:5]) == {frozenset(game.table_id for game in games)}


class Asked(MemoryLog):
    """A log that remembers of which streams the versions were asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[frozenset[str]] = []

    async def versions(self, stream_ids: Sequence[StreamId]) -> Mapping[StreamId, Version]:
        """Remember, and answer."""
        self.asked.append(frozenset(stream_ids))
        return await super().versions(stream_ids)
