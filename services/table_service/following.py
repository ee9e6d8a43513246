"""Watched tables kept up with the log, whichever replica appended to them.

    a poke of another replica ──► behind? ──► the log's tail is read, and `Tables` tells the watchers
    a poll of the log, once for all watched tables, twice a second ──┘

A poke makes it prompt, the poll makes it sure: a poke may be lost, and NATS away for as long as it likes.
"""

import asyncio
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, Self

import structlog

from baohuang.eventlog.port import NO_VERSION, EventLog, EventLogError, StreamId, Version
from baohuang.metrics.bugs import Bugs
from baohuang.rpc.errors import NotFound, Unavailable
from baohuang.rules.state import TableId
from table_service.tables import Tables
from table_service.watch.hub import Hub

POLL_SECONDS: Final = 0.5
_TABLES_A_QUERY: Final = 1_000
_AT_ONCE: Final = 4
"""Tables that are read at once: as many as the log has connections for reading."""
_PART: Final = "watched tables"
_log = structlog.get_logger("table_service")


class Following:
    """Follows the tables that are watched here, between entering and leaving it as an async context manager."""

    def __init__(
        self,
        log: EventLog,
        tables: Tables,
        hub: Hub,
        poll_seconds: float = POLL_SECONDS,
        *,
        bugs: Bugs | None = None,
    ) -> None:
        self._bugs: Final = bugs or Bugs()
        self._report: Final = self._bugs.of_tasks(_PART)
        self._log = log
        self._tables = tables
        self._hub = hub
        self._poll_seconds = poll_seconds
        self._room = asyncio.Semaphore(_AT_ONCE)
        self._reading: dict[TableId, asyncio.Task[None]] = {}
        self._wanted: dict[TableId, Version] = {}
        self._polling: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._polling = asyncio.create_task(self._bugs.begun_again(_PART, self._poll), name="watched tables: poll")
        return self

    async def __aexit__(self, *_: object) -> None:
        polling, self._polling = self._polling, None
        tasks = [*self._reading.values(), *([polling] if polling else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def reached(self, table_id: TableId, version: Version) -> None:
        """Hear that a table is at a version, by the log or by another replica: read on if it is watched and behind."""
        if not self._hub.is_watched(table_id) or self._tables.version_of(table_id) >= version:
            return
        self._wanted[table_id] = max(version, self._wanted.get(table_id, NO_VERSION))
        if table_id not in self._reading:
            task = asyncio.create_task(self._read(table_id), name=f"tail of {table_id}")
            task.add_done_callback(self._report)
            self._reading[table_id] = task

    async def _read(self, table_id: TableId) -> None:
        """Read until the table is where it is wanted; what fails is left to the next poll.

        Who watches what cannot be shown here is sent away, to watch it on another replica.
        """
        try:
            while self._wanted.pop(table_id, NO_VERSION) > self._tables.version_of(table_id):
                async with self._room:
                    await self._tables.current(table_id)
        except (EventLogError, NotFound) as error:
            _log.warning("watched table not read", table_id=table_id, error=type(error).__name__)
        except Unavailable as newer:
            self._hub.refuse(table_id, newer)
        finally:
            # Here and not when the task is done, which is later: what is wanted in between would be forgotten.
            self._wanted.pop(table_id, None)
            self._reading.pop(table_id, None)

    async def _poll(self) -> None:
        while True:
            await asyncio.sleep(self._poll_seconds)
            for some in _batches(self._hub.watched()):
                await self._look_at(some)

    async def _look_at(self, table_ids: Sequence[TableId]) -> None:
        try:
            versions = await self._log.versions([StreamId(table_id) for table_id in table_ids])
        except EventLogError as error:
            _log.warning("watched tables not looked at", error=type(error).__name__)
            return
        for stream_id, version in versions.items():
            self.reached(TableId(stream_id), version)


def _batches(table_ids: Sequence[TableId]) -> Iterator[Sequence[TableId]]:
    rest = iter(table_ids)
    while some := tuple(islice(rest, _TABLES_A_QUERY)):
        yield some
