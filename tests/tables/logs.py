"""Event logs that stand in front of a real one and do to it what networks and crashes do."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime

from baohuang.eventlog.port import (
    NO_POSITION,
    NO_VERSION,
    Actor,
    Append,
    ClaimName,
    Current,
    Due,
    Duplicate,
    EventLog,
    Head,
    LogBusy,
    Outcome,
    OutcomeUnknown,
    Position,
    RequestId,
    StoredEvent,
    StreamId,
    Version,
)


class FrontLog:
    """Passes everything on."""

    def __init__(self, behind: EventLog) -> None:
        self.behind = behind

    async def append(self, command: Append) -> Outcome:
        """See `EventLog.append`."""
        return await self.behind.append(command)

    async def head(self, stream_id: StreamId) -> Head | None:
        """See `EventLog.head`."""
        return await self.behind.head(stream_id)

    async def versions(self, stream_ids: Sequence[StreamId]) -> Mapping[StreamId, Version]:
        """See `EventLog.versions`."""
        return await self.behind.versions(stream_ids)

    async def read_stream(
        self, stream_id: StreamId, after_version: Version = NO_VERSION, limit: int = 1000
    ) -> Sequence[StoredEvent]:
        """See `EventLog.read_stream`."""
        return await self.behind.read_stream(stream_id, after_version, limit)

    async def read_since_last(self, stream_id: StreamId, event_type: str) -> Sequence[StoredEvent]:
        """See `EventLog.read_since_last`."""
        return await self.behind.read_since_last(stream_id, event_type)

    async def read_all(self, after_position: Position = NO_POSITION, limit: int = 1000) -> Sequence[StoredEvent]:
        """See `EventLog.read_all`."""
        return await self.behind.read_all(after_position, limit)

    async def current(self, stream_id: StreamId, actor: Actor, request_id: RequestId) -> Current:
        """See `EventLog.current`."""
        return await self.behind.current(stream_id, actor, request_id)

    async def find_request(self, actor: Actor, request_id: RequestId) -> Duplicate | None:
        """See `EventLog.find_request`."""
        return await self.behind.find_request(actor, request_id)

    async def list_heads(self, where: bytes = b"{}", after: StreamId | None = None, limit: int = 100) -> Sequence[Head]:
        """See `EventLog.list_heads`."""
        return await self.behind.list_heads(where, after, limit)

    async def holders(self, names: Sequence[ClaimName]) -> Mapping[ClaimName, StreamId]:
        """See `EventLog.holders`."""
        return await self.behind.holders(names)

    async def clock(self) -> datetime:
        """See `EventLog.clock`."""
        return await self.behind.clock()

    async def claim_due(self, limit: int, lease_seconds: float) -> Sequence[Due]:
        """See `EventLog.claim_due`."""
        return await self.behind.claim_due(limit, lease_seconds)


class SlowToAnswer(FrontLog):
    """Appends at once, but while `held` answers only when `release` is called."""

    def __init__(self, behind: EventLog) -> None:
        super().__init__(behind)
        self._answers = asyncio.Event()
        self._answers.set()
        self.appended = asyncio.Event()

    def hold(self) -> None:
        """Keep back the answers from now on."""
        self._answers.clear()
        self.appended.clear()

    def release(self) -> None:
        """Let all answers go."""
        self._answers.set()

    async def append(self, command: Append) -> Outcome:
        """Append, tell so by `appended`, and answer when allowed."""
        outcome = await self.behind.append(command)
        self.appended.set()
        await self._answers.wait()
        return outcome


class Meeting(FrontLog):
    """Lets appends through once as many have come as the barrier is for: what they rest on was read by then."""

    def __init__(self, behind: EventLog, barrier: asyncio.Barrier) -> None:
        super().__init__(behind)
        self._barrier = barrier
        self.meeting = False

    async def append(self, command: Append) -> Outcome:
        """Append; while `meeting`, the first time together with the others."""
        if self.meeting:
            self.meeting = False
            await self._barrier.wait()
        return await self.behind.append(command)


class Losing(FrontLog):
    """While `losing`, appends and loses the answer, as a connection does that breaks after the commit."""

    losing = False

    async def append(self, command: Append) -> Outcome:
        """Append; raise OutcomeUnknown while `losing`."""
        outcome = await self.behind.append(command)
        if self.losing:
            raise OutcomeUnknown("the connection was lost")
        return outcome


class Silent(FrontLog):
    """While `silent`, answers no read and takes no append, as a database that is gone."""

    silent = False

    def _check(self) -> None:
        if self.silent:
            raise LogBusy("the database is gone")

    async def append(self, command: Append) -> Outcome:
        """See `EventLog.append`."""
        self._check()
        return await self.behind.append(command)

    async def versions(self, stream_ids: Sequence[StreamId]) -> Mapping[StreamId, Version]:
        """See `EventLog.versions`."""
        self._check()
        return await self.behind.versions(stream_ids)

    async def read_stream(
        self, stream_id: StreamId, after_version: Version = NO_VERSION, limit: int = 1000
    ) -> Sequence[StoredEvent]:
        """See `EventLog.read_stream`."""
        self._check()
        return await self.behind.read_stream(stream_id, after_version, limit)

    async def read_since_last(self, stream_id: StreamId, event_type: str) -> Sequence[StoredEvent]:
        """See `EventLog.read_since_last`."""
        self._check()
        return await self.behind.read_since_last(stream_id, event_type)

    async def current(self, stream_id: StreamId, actor: Actor, request_id: RequestId) -> Current:
        """See `EventLog.current`."""
        self._check()
        return await self.behind.current(stream_id, actor, request_id)

    async def list_heads(self, where: bytes = b"{}", after: StreamId | None = None, limit: int = 100) -> Sequence[Head]:
        """See `EventLog.list_heads`."""
        self._check()
        return await self.behind.list_heads(where, after, limit)

    async def holders(self, names: Sequence[ClaimName]) -> Mapping[ClaimName, StreamId]:
        """See `EventLog.holders`."""
        self._check()
        return await self.behind.holders(names)

    async def claim_due(self, limit: int, lease_seconds: float) -> Sequence[Due]:
        """See `EventLog.claim_due`."""
        self._check()
        return await self.behind.claim_due(limit, lease_seconds)
