"""A server whose synchronous standby is gone: its commits wait, and nobody is told, or shown, what waits.

A failover may lose what only one server has, and its versions would be given out a second time.
"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from baohuang.database.group_commit import Pace
from baohuang.embedded.postgres import EmbeddedPostgres
from baohuang.eventlog.port import Duplicate, EventLogError, LogUnavailable, OutcomeUnknown
from baohuang.eventlog.postgres.connections import Limits
from baohuang.eventlog.postgres.log import PostgresLog, open_log
from baohuang.eventlog.postgres.migrations import migrate
from eventlog.commands import accepted, after, command, new_stream
from eventually import eventually

LIMITS = Limits(statement_ms=200)
PACE = Pace(patience=1.0)


class Alone:
    """A server that can be left by its standby, which it never had."""

    def __init__(self, server: EmbeddedPostgres) -> None:
        self.server = server
        self.dsn = ""

    async def start(self) -> None:
        """Start it, again."""
        self.dsn = await self.server.start()

    async def is_left(self) -> None:
        """Have commits wait for a standby that is not there."""
        await self._say("alter system set synchronous_standby_names = 'ghost'")

    async def is_joined(self) -> None:
        """Have commits wait no more, and those that do be let go."""
        await self._say("alter system reset synchronous_standby_names")

    async def _say(self, statement: str) -> None:
        admin = await asyncpg.connect(self.dsn)
        try:
            await admin.execute("set synchronous_commit = local")
            await admin.execute(statement)
            await admin.execute("select pg_reload_conf()")
        finally:
            await admin.close()


@pytest.fixture
async def alone(folder: Path) -> AsyncIterator[Alone]:
    """Give a server of its own with an empty log."""
    server = Alone(EmbeddedPostgres(folder))
    await server.start()
    await asyncio.to_thread(migrate, server.dsn)
    yield server
    await server.server.destroy()


async def has_waited(log: PostgresLog) -> None:
    """Wait until the flush under way has been looked after twice."""

    async def long() -> bool:
        return log.commits.in_flight_seconds > 2.5 * LIMITS.answer_seconds

    await eventually(long, 30)


async def test_a_commit_waits_for_the_standby(alone: Alone) -> None:
    """Its caller is told in time that it is not known; nobody sees it; once there is a standby, it is what it was."""
    stream_id = new_stream()
    async with open_log(alone.dsn, limits=LIMITS, pace=PACE) as log:
        first = await accepted(log, command(stream_id))
        wanted = after(stream_id, first)
        await alone.is_left()
        with pytest.raises(OutcomeUnknown):
            await log.append(wanted)
        await has_waited(log)
        with pytest.raises(EventLogError):
            await log.append(wanted)
        assert [event.version for event in await log.read_stream(stream_id)] == [1]
        assert await log.find_request(wanted.actor, wanted.request_id) is None
        await alone.is_joined()
        outcome = await log.append(wanted)
        assert isinstance(outcome, Duplicate)
        assert [event.version for event in await log.read_stream(stream_id)] == [1, 2]


async def test_what_a_restart_shows_is_not_told_before_the_standby_has_it(alone: Alone) -> None:
    """A server that starts again shows what it had written alone; a retry is answered when the standby has it too."""
    stream_id = new_stream()
    wanted = command(stream_id)
    await alone.is_left()
    async with open_log(alone.dsn, limits=LIMITS, pace=PACE) as log:
        with pytest.raises(OutcomeUnknown):
            await log.append(wanted)
    await alone.server.stop()
    await alone.start()
    async with open_log(alone.dsn, limits=LIMITS, pace=PACE) as log:
        assert len(await log.read_stream(stream_id)) == 1
        with pytest.raises(OutcomeUnknown):
            await log.append(wanted)
        with pytest.raises(LogUnavailable):
            await log.current(stream_id, wanted.actor, wanted.request_id)
        with pytest.raises(LogUnavailable):
            await log.find_request(wanted.actor, wanted.request_id)
        await alone.is_joined()
        assert isinstance(await log.append(wanted), Duplicate)
        assert (await log.current(stream_id, wanted.actor, wanted.request_id)).duplicate is not None


async def test_who_leaves_cancels_nothing(alone: Alone) -> None:
    """A log that is closed while a commit waits is closed in bounded time, and the commit waits on."""
    stream_id = new_stream()
    wanted = command(stream_id)
    async with asyncio.timeout(60):
        async with open_log(alone.dsn, limits=LIMITS, pace=PACE) as log:
            await alone.is_left()
            with pytest.raises(OutcomeUnknown):
                await log.append(wanted)
        async with open_log(alone.dsn, limits=LIMITS, pace=PACE) as log:
            assert not await log.read_stream(stream_id)
            await alone.is_joined()
            assert isinstance(await log.append(wanted), Duplicate)
