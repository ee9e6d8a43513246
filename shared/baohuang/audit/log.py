"""Verification of streams and of the whole log, in short reads and constant memory."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from baohuang.audit.findings import Check, Finding
from baohuang.audit.lists import not_listed, wrongly_listed
from baohuang.audit.pausing import Pause, never
from baohuang.audit.stream import Depth, StreamAudit
from baohuang.audit.survey import Survey
from baohuang.eventlog.port import NO_VERSION, EventReader, Position, StreamId, Version
from baohuang.eventlog.summaries import follows

_PAGE: Final = 1000
"""Events, or positions times a few, that one read takes."""
_RANGE: Final = 20_000
_TOLD: Final = 20
"""Missing positions that are named in each range, and streams with events where the log does not reach."""
_ROOM: Final = timedelta(minutes=1)
"""By how much the order of positions may differ from that of the clock's readings: more than an append may take."""
_WHOLE_LOG: Final = StreamId("")


@dataclass(slots=True)
class Tally:
    """How much was looked at so far."""

    streams: int = 0
    events: int = 0
    positions: int = 0


@dataclass(frozen=True, slots=True)
class LogAudit:
    """Verifies a log while it is written to; `tally` grows as it goes, with a pause after each event."""

    log: EventReader
    depth: Depth = Depth.DECISIONS
    tally: Tally = field(default_factory=Tally)
    pause: Pause = never

    async def stream(self, stream_id: StreamId) -> AsyncIterator[Finding]:
        """Verify one stream. Raises LogUnavailable."""
        audit = StreamAudit(stream_id, self.depth)
        while True:
            page = await self.log.read_stream(stream_id, audit.tip.version, _PAGE)
            for event in page:
                for finding in audit.take(event):
                    yield finding
                await self.pause()
            self.tally.events += len(page)
            if len(page) == _PAGE:
                continue
            # The head is read behind the events: so it may have moved on, never back.
            head = await self.log.head(stream_id)
            if not page or head is None or head.version <= audit.tip.version:
                break
        for finding in audit.end(head):
            yield finding
        if head is not None and audit.table is not None and not follows(head.summary, audit.table):
            message = "the summary of the table, which lists show, is not what its events come to"
            yield Finding(Check.LIST, stream_id, NO_VERSION, message)
        self.tally.streams += 1

    async def whole(self, survey: Survey, since: datetime | None = None) -> AsyncIterator[Finding]:
        """Verify all streams, or those with an event since a moment; and the positions of the log, or those since.

        Raises LogUnavailable, asyncpg.PostgresError, OSError.
        """
        async for stream_id in survey.streams(since):
            async for finding in self.stream(stream_id):
                yield finding
        async for finding in self._positions(survey, since):
            yield finding

    async def _positions(self, survey: Survey, since: datetime | None) -> AsyncIterator[Finding]:
        after = await survey.position_at(since - _ROOM) if since else Position(0)
        counted, last = await survey.last_position()
        if counted is None:
            yield _of_log("the counter of positions was removed")
        else:
            last = counted
        async for finding in self._misplaced(survey):
            yield finding
        while after < last:
            to = Position(min(after + _RANGE, last))
            async for finding in self._range(survey, after, to):
                yield finding
            async for finding in not_listed(survey, after, to):
                yield finding
            self.tally.positions += to - after
            after = to
        async for finding in wrongly_listed(survey):
            yield finding

    async def _misplaced(self, survey: Survey) -> AsyncIterator[Finding]:
        """Tell of events that stand where the log does not reach, where no range would find them."""
        for stream_id, version, position in await survey.misplaced(_TOLD):
            where = "before the first position" if position < 1 else "behind the last position that was counted"
            message = f"it stands at {position}, {where}: it was put there, or the counter was changed"
            yield Finding(Check.POSITIONS, stream_id, version, message)

    async def _range(self, survey: Survey, after: Position, to: Position) -> AsyncIterator[Finding]:
        found, homeless = await survey.count(after, to)
        if found != to - after:
            some = await survey.missing(after, to, _TOLD)
            more = to - after - found - len(some)
            told = ", ".join(map(str, some)) + (f" and {more} more" if more else "")
            yield _of_log(f"no event stands at {told}")
        for stream_id in await survey.homeless(after, to) if homeless else ():
            yield Finding(Check.HEAD, stream_id, NO_VERSION, "the stream has events and no head: it was removed")


def _of_log(message: str) -> Finding:
    return Finding(Check.POSITIONS, _WHOLE_LOG, Version(0), message)
