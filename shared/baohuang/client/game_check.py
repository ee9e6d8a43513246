"""Checking a game from what its player, or anybody, was shown of it: nothing of the service is taken on trust. Pure.

    chain       every event follows the one before it, from the first on; hidden parts, once open, are those that the
                digests stood for
    decisions   of every finished hand, and between hands: just these events come of the commands, by the rules
    deals       of every finished hand: the seed is the one committed to, and gives the cards that were dealt (FAIR-1)
    opened      there is an event, and of every one up to the end of the last finished hand the salt is given
    shown       the hashes that were seen while it was played are those of this record, and none is missing

Of the hand that is played, whose cards and salts are not open yet, the chain alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from baohuang.audit.findings import Check, Finding
from baohuang.audit.stream import Depth, StreamAudit
from baohuang.client.records import RecordedEvent
from baohuang.eventlog.chain import SALT_BYTES, PublicEvent, Tip, digest_of
from baohuang.eventlog.codec import encode
from baohuang.eventlog.port import NO_VERSION, RequestId, StoredEvent, StreamId, Version
from baohuang.rules.events import Event, HandFinished, HandStarted, SeedCommitted
from baohuang.rules.state import TableId


@dataclass(frozen=True, slots=True)
class CheckedGame:
    """What was checked of a table, and what was found: nothing, if its record holds."""

    table_id: TableId
    version: Version
    """How many events there are; the chain was followed through all of them."""
    hash: bytes
    """The hash of the last one."""
    decided_until: Version
    """Up to there every command was decided again, and every finished hand dealt again."""
    hands: int
    """How many hands were."""
    findings: tuple[Finding, ...]


class GameCheck:
    """Takes in the events of one table, all of them in order.

    `shown` are hashes by version that were seen while it was played.
    """

    def __init__(self, table_id: TableId, shown: Mapping[Version, bytes]) -> None:
        self.table_id = table_id
        self._stream_id = StreamId(table_id)
        self._shown = dict(shown)
        self._audit = StreamAudit(self._stream_id, as_shown=_as_shown)
        self._findings: list[Finding] = []
        self._last: StoredEvent | None = None
        self._decided_until: Version | None = None
        self._hands = 0
        self._not_open: list[Version] = []
        self._kept_back: list[Version] = []

    @property
    def withheld(self) -> bool:
        """Whether a hand ended of which not everything is open: it did so while the events came, or is kept back."""
        return bool(self._kept_back)

    @property
    def tip(self) -> Tip:
        """The last event so far."""
        return self._audit.tip

    def take(self, recorded: RecordedEvent) -> None:
        """Take in the next event."""
        stored, is_open = self._stored(recorded), _is_open(recorded)
        if isinstance(recorded.event, HandStarted) and not is_open and self._decided_until is None:
            # What came of its command, up to here, follows from cards that nobody may know yet.
            self._decided_until = self._last.version if self._last else NO_VERSION
            self._audit = StreamAudit(self._stream_id, Depth.CHAIN, after=self._last)
        if not is_open:
            self._not_open.append(recorded.version)
        if isinstance(recorded.event, HandFinished):
            self._hands += is_open and self._decided_until is None
            self._kept_back += self._not_open
            self._not_open.clear()
        if is_open:
            self._check_digest(recorded, stored)
        self._check_shown(recorded)
        self._findings += self._audit.take(stored, None if is_open else self._public(recorded, stored))
        self._last = stored

    def checked(self) -> CheckedGame:
        """Return what was checked and found, all events being in."""
        if self._decided_until is None:
            self._findings += self._audit.end_of_command()
        tip = self._audit.tip
        if tip.version == NO_VERSION:
            self._find(Check.EVENT, NO_VERSION, "there is no event, and every table has one that opened it")
        for version in self._kept_back:
            self._find(Check.EVENT, version, "its hand is over, and its salt is kept back")
        for version in sorted(version for version in self._shown if version > tip.version):
            self._find(Check.HEAD, version, "you were shown this event, and it is missing")
        decided_until = tip.version if self._decided_until is None else self._decided_until
        return CheckedGame(self.table_id, tip.version, tip.hash, decided_until, self._hands, tuple(self._findings))

    def _stored(self, recorded: RecordedEvent) -> StoredEvent:
        """Return the event as it stands in the log, as far as it is known: computed here, not taken on trust."""
        name, data = recorded.type, b"{}"
        if recorded.event is not None:
            name, data = encode(recorded.event)
        return StoredEvent(
            position=recorded.position,
            stream_id=recorded.table_id,
            version=recorded.version,
            type=name,
            data=data,
            actor=recorded.actor,
            request_id=recorded.request_id if _is_open(recorded) else self._request_of(recorded),
            recorded_at=recorded.recorded_at,
            salt=recorded.salt,
            hash=recorded.hash,
        )

    def _request_of(self, recorded: RecordedEvent) -> RequestId:
        """Return what stands for a request id that is not told: events of one actor and moment came of one command."""
        last = self._last
        if last and (last.actor, last.recorded_at) == (recorded.actor, recorded.recorded_at):
            return last.request_id
        return RequestId(f"of version {recorded.version}")

    def _public(self, recorded: RecordedEvent, stored: StoredEvent) -> PublicEvent:
        event: Any = recorded.event
        data = encode(replace(event, hidden=None))[1] if getattr(event, "hidden", None) else stored.data
        return PublicEvent(
            stream_id=stored.stream_id,
            version=stored.version,
            type=stored.type,
            data=data,
            actor=stored.actor,
            recorded_at=stored.recorded_at,
            hidden_digest=recorded.hidden_digest,
            hash=stored.hash,
        )

    def _check_digest(self, recorded: RecordedEvent, stored: StoredEvent) -> None:
        if digest_of(stored) != recorded.hidden_digest:
            self._find(Check.CHAIN, recorded.version, "what is opened is not what its digest stood for")

    def _check_shown(self, recorded: RecordedEvent) -> None:
        if self._shown.get(recorded.version, recorded.hash) != recorded.hash:
            self._find(Check.HEAD, recorded.version, "you were shown another event at this version")

    def _find(self, check: Check, version: Version, message: str) -> None:
        self._findings.append(Finding(check, self._stream_id, version, message))


def _is_open(recorded: RecordedEvent) -> bool:
    return len(recorded.salt) == SALT_BYTES


def _as_shown(follows: Event, shown: Event) -> Event:
    """Return the event that follows as it is shown: a seed that is committed to is not known until its hand is over."""
    if isinstance(follows, SeedCommitted) and isinstance(shown, SeedCommitted) and shown.hidden is None:
        return replace(follows, hidden=None, commitment=shown.commitment)
    return follows
