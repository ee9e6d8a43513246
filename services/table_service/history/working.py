"""Long work, in short pieces and little of it at a time, so that a replica's plays go on beside it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from msgspec import Struct

from baohuang.audit.explaining import explain
from baohuang.audit.findings import Finding
from baohuang.audit.judgement import Judgement
from baohuang.audit.log import LogAudit
from baohuang.audit.pausing import HalfTheTime
from baohuang.audit.stream import Depth
from baohuang.eventlog.port import EventReader, StreamId, Version
from baohuang.eventlog.reading_back import HAND_STARTED
from baohuang.handrecord import HandRecord, NoSuchHand, hand_of
from baohuang.history.reader import HistoryReader
from baohuang.history.sought import EventsSought
from baohuang.rules.state import PlayerId, TableId
from table_service.history.taking_turns import Turns

FINDINGS_TOLD: Final = 100
"""Of many."""
_ASKED_AT_ONCE: Final = 8
"""Of each kind, by one caller. One of them is done at a time, and leaves half of the time to plays."""
_PAGE: Final = 100


class Verified(Struct, frozen=True):
    """How many events of a stream were verified, and what was found."""

    events: int
    findings: Sequence[Finding]


class Work:
    """Verifies, explains and exports; who comes while enough is being done waits his turn.

    Who has asked for too much is refused: Exhausted.
    """

    def __init__(self, log: EventReader, records: HistoryReader) -> None:
        self._log = log
        self._records = records
        self._verifying = Turns(_ASKED_AT_ONCE)
        self._explaining = Turns(_ASKED_AT_ONCE)

    async def verify(self, caller: PlayerId, stream_id: StreamId, depth: Depth) -> Verified:
        """Verify one stream, in constant memory. Raises LogUnavailable, Exhausted."""
        async with self._verifying.turn(caller):
            audit = LogAudit(self._log, depth, pause=HalfTheTime())
            found: list[Finding] = []
            async for finding in audit.stream(stream_id):
                if len(found) < FINDINGS_TOLD:
                    found.append(finding)
            return Verified(audit.tally.events, found)

    async def explain(self, caller: PlayerId, stream_id: StreamId, version: Version) -> Judgement:
        """Explain a ruling. Raises NotARulingError, NothingThereError, LogUnavailable, Exhausted."""
        async with self._explaining.turn(caller):
            return await explain(self._log, stream_id, version, HalfTheTime())

    async def export(self, table_id: TableId, hand: int) -> HandRecord:
        """Return the full record of a hand that is over. Raises NoSuchHand, StillPlayed, LogUnavailable."""
        return await hand_of(self._log, table_id, hand, await self._before(table_id, hand))

    async def _before(self, table_id: TableId, hand: int) -> Version:
        """Return the version before the one that begins a hand: the table's so many-th. Raises NoSuchHand."""
        sought, left = EventsSought(StreamId(table_id), types=(HAND_STARTED,)), hand
        while page := await self._records.events(sought, limit=_PAGE):
            if left <= len(page):
                return Version(page[left - 1].version - 1)
            sought, left = replace(sought, after=page[-1].position), left - len(page)
        raise NoSuchHand(f"the table {table_id} has no hand {hand}")
