"""The tables this replica has in memory: a cache of what the log says, never more.

Anything here may be behind the log (another replica serves the same tables); an append finds that out, and `catch_up`
mends it. Every event this replica learns of, be it its own or read from the log, passes `Tables.learn`, once and in
order; so that is where watchers are told.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from baohuang.eventlog.port import NO_HASH, NO_VERSION, EventReader, StoredEvent, StreamId, Version
from baohuang.eventlog.reading_back import HAND_STARTED, from_hand_of
from baohuang.rules.events import Event
from baohuang.rules.state import PlayerId, Table, TableId, in_progress
from table_service.curtain import Curtain, Learnt, Seen
from table_service.happened import replay, replay_stored
from table_service.readable import events_in, table_after
from table_service.refusing import no_such_table

TABLES_HELD = 10_000


@dataclass(slots=True)
class HeldTable:
    """One table in memory. `lock` is held while a command is decided and appended."""

    table_id: TableId
    table: Table | None = None
    version: Version = NO_VERSION
    hash: bytes = NO_HASH
    curtain: Curtain = field(default_factory=Curtain)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def stream_id(self) -> StreamId:
        """The table's stream in the log."""
        return StreamId(self.table_id)

    @property
    def whole(self) -> Seen:
        """The table as it is. Raises LookupError before it is opened."""
        if self.table is None:
            raise LookupError("a table that is held in memory exists")
        return Seen(self.table, self.version, self.hash)

    def seen_by(self, player: PlayerId) -> Seen:
        """Return the table as far as the player sees it: who does not play the hand, perhaps behind a curtain."""
        whole, kept_back = self.whole, self.curtain.seen
        if kept_back is None or (whole.table.hand is not None and player in whole.table.hand.players):
            return whole
        return kept_back


Listener = Callable[[TableId, Sequence[Learnt]], None]


class Tables:
    """Tables by id, the least recently used dropped first, but none of those that `is_kept` names.

    Whatever reads the log raises Unavailable as well, for what a newer release wrote (`readable`).
    """

    def __init__(
        self,
        log: EventReader,
        listener: Listener,
        limit: int = TABLES_HELD,
        is_kept: Callable[[TableId], bool] = lambda _: False,
    ) -> None:
        self._log = log
        self._listener = listener
        self._limit = limit
        self._is_kept = is_kept
        self._held: OrderedDict[TableId, HeldTable] = OrderedDict()

    @property
    def number(self) -> int:
        """How many tables are in memory."""
        return len(self._held)

    def version_of(self, table_id: TableId) -> Version:
        """Return how far this replica knows the table, 0 for one that it does not hold."""
        held = self._held.get(table_id)
        return held.version if held else NO_VERSION

    async def hold(self, table_id: TableId) -> HeldTable:
        """Return the table, perhaps behind the log. Raises NotFound, LogUnavailable."""
        held = self._held.get(table_id)
        if held is None:
            held = await self._load(table_id)
        self._held.move_to_end(table_id)
        return held

    def peek(self, table_id: TableId) -> HeldTable | None:
        """Return the table if it is in memory."""
        return self._held.get(table_id)

    async def current(self, table_id: TableId) -> HeldTable:
        """Return the table as the log has it now. Raises NotFound, LogUnavailable."""
        held = await self.hold(table_id)
        async with held.lock:
            await self.catch_up(held)
        return held

    async def at(self, table_id: TableId, version: Version) -> HeldTable:
        """Return the table as it was at a version, apart from the one held now. Raises NotFound, LogUnavailable."""
        held = await self.hold(table_id)
        if held.version == version:
            return held
        stored = await self._log.read_stream(held.stream_id, limit=version)
        return _held_after(table_id, stored)

    async def catch_up(self, held: HeldTable) -> None:
        """Read what the log has beyond the held version; the caller holds the lock. Raises LogUnavailable."""
        while stored := await self._log.read_stream(held.stream_id, held.version):
            self.learn(held, stored, events_in(stored))

    async def reload(self, held: HeldTable) -> None:
        """Go back to what the log says, which is behind; the caller holds the lock. Raises NotFound, LogUnavailable."""
        said = await self._read(held.table_id)
        if said is None:
            self.forget(held.table_id)
            raise no_such_table(held.table_id)
        held.table, held.version, held.hash, held.curtain = said.table, said.version, said.hash, said.curtain

    def forget(self, table_id: TableId) -> None:
        """Drop a table, whose cache is not to be trusted."""
        self._held.pop(table_id, None)

    def learn(
        self, held: HeldTable, stored: Sequence[StoredEvent], events: Sequence[Event], tables: Sequence[Table] = ()
    ) -> None:
        """Move the table on by events that are in the log, and tell the listener.

        `tables` are the table as each of them leaves it, where that is known already.
        """
        before = held.whole if held.table else None
        learnt = held.curtain.learn(before, replay(held.table, stored, events, tables))
        last = learnt[-1].happened
        held.table, held.version, held.hash = last.table, last.stored.version, last.stored.hash
        self._listener(held.table_id, learnt)

    def adopt(self, held: HeldTable) -> None:
        """Keep a table that was just opened."""
        self._held.setdefault(held.table_id, held)
        self._drop_least_used(held.table_id)

    async def _load(self, table_id: TableId) -> HeldTable:
        read = await self._read(table_id)
        if read is None:
            raise no_such_table(table_id)
        held = self._held.setdefault(table_id, read)
        self._drop_least_used(table_id)
        return held

    async def _read(self, table_id: TableId) -> HeldTable | None:
        """Return the table as the log has it; None if it does not."""
        stored = await self._log.read_since_last(StreamId(table_id), HAND_STARTED)
        if not stored:
            return None
        held = _held_after(table_id, stored)
        if held.table and held.table.options.spectator_delay and in_progress(held.table):
            # What is kept back begins with the hand, and what spectators see instead comes from before it.
            stored = await from_hand_of(self._log, held.stream_id, Version(stored[0].version - 1))
            held = _held_after(table_id, stored)
            held.curtain.learn(None, replay_stored(stored))
        return held

    def _drop_least_used(self, wanted: TableId) -> None:
        """Forget tables over the limit, but none that is in use: two copies of one would not know of each other.

        Nor the one that is wanted now, nor any that is to be kept.
        """
        if len(self._held) <= self._limit:
            return
        for table_id in list(self._held):
            if len(self._held) <= self._limit:
                return
            in_use = table_id == wanted or self._held[table_id].lock.locked()
            if not in_use and not self._is_kept(table_id):
                del self._held[table_id]


def _held_after(table_id: TableId, stored: Sequence[StoredEvent]) -> HeldTable:
    return HeldTable(table_id, table_after(stored), stored[-1].version, stored[-1].hash)
