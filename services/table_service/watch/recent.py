"""The last events of the tables that somebody came back to lately, for all who come back to them.

What was missed is read from the log and folded once a table, not once for each who resumes, and carried on as long as
somebody watches. The tables used least recently are dropped: they can be read again.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from baohuang.eventlog.port import EventLog, StreamId, Version
from baohuang.eventlog.reading_back import from_hand_of
from baohuang.rules.state import TableId
from table_service.happened import replay_stored
from table_service.watch.telling import Telling

MISSED_AT_MOST: Final = 256
"""Events that are told one by one to who missed them; more, and a snapshot is less to read."""
_TABLES: Final = 256


@dataclass(slots=True)
class _Tail:
    """The last events of one table, contiguous. `lock` is held while they are read."""

    tellings: deque[Telling] = field(default_factory=lambda: deque(maxlen=2 * MISSED_AT_MOST))
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def between(self, after: int, upto: int) -> Sequence[Telling] | None:
        """Return the events after one version up to another, None if not all of them are here."""
        if not self.tellings or self.tellings[0].version > after + 1 or self.tellings[-1].version < upto:
            return None
        first = self.tellings[0].version
        return [self.tellings[version - first] for version in range(after + 1, upto + 1)]


class Recent:
    """Tails of streams, by table."""

    def __init__(self, log: EventLog, tables: int = _TABLES) -> None:
        self._log = log
        self._limit = tables
        self._tails: OrderedDict[TableId, _Tail] = OrderedDict()

    def learn(self, table_id: TableId, telling: Telling) -> None:
        """Carry on the table's tail, if it is here."""
        tail = self._tails.get(table_id)
        if tail is None or not tail.tellings:
            return
        following = tail.tellings[-1].version + 1
        if telling.version == following:
            tail.tellings.append(telling)
        elif telling.version > following:
            tail.tellings.clear()

    def forget(self, table_id: TableId) -> None:
        """Drop a table's tail: nobody watches it."""
        self._tails.pop(table_id, None)

    async def missed(self, table_id: TableId, after: int, upto: int) -> Sequence[Telling] | None:
        """Return the events after a version up to another, None if there are too many. Raises LogUnavailable."""
        if upto - after > MISSED_AT_MOST:
            return None
        tail = self._tails.setdefault(table_id, _Tail())
        self._tails.move_to_end(table_id)
        if len(self._tails) > self._limit:
            self._tails.popitem(last=False)
        async with tail.lock:
            here = tail.between(after, upto)
            if here is None:
                await self._read(tail, table_id, after)
                here = tail.between(after, upto)
        return here

    async def _read(self, tail: _Tail, table_id: TableId, after: int) -> None:
        stored = await from_hand_of(self._log, StreamId(table_id), Version(after + 1))
        tail.tellings.clear()
        tail.tellings.extend(map(Telling, replay_stored(stored)))
