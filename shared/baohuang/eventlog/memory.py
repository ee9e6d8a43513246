"""The event log in memory: the twin of the PostgreSQL one, the same to the letter, gone with its process.

Nothing is awaited within an append, so the event loop is its lock and a cancelled caller leaves nothing half done.
"""

import re
import secrets
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from baohuang.eventlog import chain
from baohuang.eventlog.containment import contains
from baohuang.eventlog.port import (
    NO_HASH,
    NO_POSITION,
    NO_VERSION,
    Actor,
    Append,
    Appended,
    ClaimName,
    Current,
    Due,
    Duplicate,
    Head,
    LogCorrupted,
    Outcome,
    Position,
    Refused,
    RequestId,
    StoredEvent,
    StreamId,
    TooEarly,
    TooLate,
    Unstorable,
    Version,
    VersionConflict,
)

# The constraints of the schema that need no look at the log, in the order in which PostgreSQL meets them.
_CONSTRAINTS: Final[tuple[tuple[str, Callable[[Append], bool]], ...]] = (
    ("a_request_is_named", lambda command: command.request_id != ""),
    ("an_actor_is_named", lambda command: command.actor != ""),
    ("a_stream_is_named", lambda command: command.stream_id != ""),
    ("a_summary_is_an_object", lambda command: command.summary is None or command.summary.lstrip().startswith(b"{")),
    ("an_event_has_a_type", lambda command: all(event.type for event in command.events)),
)
# An escaped NUL, whose backslash is not itself escaped: JSON has it, jsonb does not.
_ESCAPED_NUL: Final = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


@dataclass(frozen=True, slots=True)
class _Timer:
    """A stream's timer, and until when it is somebody's; None: nobody has claimed it."""

    due: Due
    leased_until: datetime | None = None


class MemoryLog:
    """An `EventLog` for tests and trials; `now` is its clock."""

    def __init__(self, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._now = now
        self._events: list[StoredEvent] = []
        self._streams: dict[StreamId, list[StoredEvent]] = {}
        self._summaries: dict[StreamId, bytes] = {}
        self._requests: dict[tuple[Actor, RequestId], Duplicate] = {}
        self._timers: dict[StreamId, _Timer] = {}
        self._claims: dict[ClaimName, StreamId] = {}

    async def append(self, command: Append) -> Outcome:
        """See `EventLog.append`."""
        links = chain.link(command, tuple(secrets.token_bytes(chain.SALT_BYTES) for _ in command.events))
        _check_storable(command)
        return self._refusal(command) or self._write(command, links)

    async def head(self, stream_id: StreamId) -> Head | None:
        """See `EventLog.head`."""
        events = self._streams.get(stream_id)
        return Head(stream_id, events[-1].version, events[-1].hash, self._summaries[stream_id]) if events else None

    async def versions(self, stream_ids: Sequence[StreamId]) -> Mapping[StreamId, Version]:
        """See `EventLog.versions`."""
        return {one: self._streams[one][-1].version for one in stream_ids if one in self._streams}

    async def read_stream(
        self, stream_id: StreamId, after_version: Version = NO_VERSION, limit: int = 1000
    ) -> Sequence[StoredEvent]:
        """See `EventLog.read_stream`."""
        return tuple(self._streams.get(stream_id, ())[after_version : after_version + limit])

    async def read_since_last(self, stream_id: StreamId, event_type: str) -> Sequence[StoredEvent]:
        """See `EventLog.read_since_last`."""
        events = self._streams.get(stream_id, [])
        first = next((event.version for event in reversed(events) if event.type == event_type), 1)
        return tuple(events[first - 1 :])

    async def read_all(self, after_position: Position = NO_POSITION, limit: int = 1000) -> Sequence[StoredEvent]:
        """See `EventLog.read_all`."""
        return tuple(self._events[after_position : after_position + limit])

    async def current(self, stream_id: StreamId, actor: Actor, request_id: RequestId) -> Current:
        """See `EventLog.current`."""
        return Current(await self.head(stream_id), await self.find_request(actor, request_id))

    async def find_request(self, actor: Actor, request_id: RequestId) -> Duplicate | None:
        """See `EventLog.find_request`."""
        return self._requests.get((actor, request_id))

    async def list_heads(self, where: bytes = b"{}", after: StreamId | None = None, limit: int = 100) -> Sequence[Head]:
        """See `EventLog.list_heads`."""
        ids = sorted(self._streams)
        ids = ids[: len(ids) if after is None else bisect_left(ids, after)]
        matching = [stream_id for stream_id in reversed(ids) if contains(self._summaries[stream_id], where)]
        heads = [await self.head(stream_id) for stream_id in matching[:limit]]
        return tuple(head for head in heads if head)

    async def holders(self, names: Sequence[ClaimName]) -> Mapping[ClaimName, StreamId]:
        """See `EventLog.holders`."""
        return {name: self._claims[name] for name in names if name in self._claims}

    async def clock(self) -> datetime:
        """See `EventLog.clock`."""
        return self._now()

    async def claim_due(self, limit: int, lease_seconds: float) -> Sequence[Due]:
        """See `EventLog.claim_due`."""
        now = self._now()
        free = [
            timer.due
            for timer in self._timers.values()
            if timer.due.due_at <= now and (timer.leased_until is None or timer.leased_until <= now)
        ]
        claimed = tuple(sorted(free, key=lambda due: (due.due_at, due.stream_id))[:limit])
        until = now + timedelta(seconds=lease_seconds)
        self._timers.update({due.stream_id: _Timer(due, until) for due in claimed})
        return claimed

    def _refusal(self, command: Append) -> Outcome | None:
        """Return what stands in the way of a command, in the order the port promises."""
        if duplicate := self._requests.get((command.actor, command.request_id)):
            return duplicate
        events = self._streams.get(command.stream_id)
        version, found = (events[-1].version, events[-1].hash) if events else (NO_VERSION, NO_HASH)
        if version != command.expected_version:
            return VersionConflict(version, found)
        if found != command.expected_hash:
            raise LogCorrupted(command.stream_id, version, command.expected_hash, found)
        if command.not_before is not None and self._now() < command.not_before:
            return TooEarly(command.not_before)
        if command.not_after is not None and self._now() > command.not_after:
            return TooLate(command.not_after)
        broken = (name for name, holds in _CONSTRAINTS if not holds(command))
        breach = self._breach_of_claims(command) or next(broken, None)
        return Refused(breach) if breach else None

    def _breach_of_claims(self, command: Append) -> str | None:
        if "" in _names(command):
            return "a_claim_is_named"
        if self._held_by_others(command.stream_id, command.claims):
            return "a_name_is_claimed_once"
        return "a_name_is_unclaimed" if self._held_by_others(command.stream_id, command.unclaimed) else None

    def _held_by_others(self, stream_id: StreamId, names: Iterable[ClaimName]) -> bool:
        return any(self._claims.get(name, stream_id) != stream_id for name in names)

    def _write(self, command: Append, links: tuple[chain.Link, ...]) -> Appended:
        stored = chain.store(command, links, Position(len(self._events)))
        self._events.extend(stored)
        self._streams.setdefault(command.stream_id, []).extend(stored)
        if command.summary is not None:
            self._summaries[command.stream_id] = command.summary
        self._summaries.setdefault(command.stream_id, b"{}")
        self._requests[command.actor, command.request_id] = Duplicate(
            command.stream_id, command.version, command.request_digest, command.outcome
        )
        self._set_timer(command)
        self._set_claims(command)
        last = stored[-1]
        return Appended(last.version, last.hash, last.position, stored)

    def _set_timer(self, command: Append) -> None:
        """Replace the stream's timer; one that stays as it is keeps its lease."""
        if command.due_at is None:
            self._timers.pop(command.stream_id, None)
            return
        timer = self._timers.get(command.stream_id)
        if timer is None or timer.due.due_at != command.due_at:
            self._timers[command.stream_id] = _Timer(Due(command.stream_id, command.version, command.due_at))

    def _set_claims(self, command: Append) -> None:
        for name in command.releases:
            if self._claims.get(name) == command.stream_id:
                del self._claims[name]
        self._claims.update(dict.fromkeys(command.claims, command.stream_id))


def _names(command: Append) -> tuple[ClaimName, ...]:
    return command.claims + command.releases + command.unclaimed


def _check_storable(command: Append) -> None:
    """Refuse what PostgreSQL's text and jsonb cannot hold."""
    documents = (
        *(event.data for event in command.events),
        command.outcome,
        b"{}" if command.summary is None else command.summary,
    )
    types = (event.type for event in command.events)
    texts = (command.stream_id, command.actor, command.request_id, *types, *_names(command))
    if any("\0" in text for text in texts) or any(_ESCAPED_NUL.search(document) for document in documents):
        raise Unstorable("text holds no NUL")
    try:
        "".join(_names(command)).encode()
    except UnicodeEncodeError as error:
        raise Unstorable(f"text holds whole characters: {error}") from error
    try:
        for document in documents:
            msgspec.json.decode(document)
    except ValueError as error:
        raise Unstorable(f"outcome or summary is not JSON: {error}") from error
