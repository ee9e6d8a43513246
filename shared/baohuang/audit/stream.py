"""One stream, event by event: its chain, its order, its decisions, its deals."""

import enum
from collections.abc import Iterator

from baohuang.audit.deals import DealAudit
from baohuang.audit.decisions import NO_DATA, AsShown, Decisions, all_of_it
from baohuang.audit.findings import Check, Finding
from baohuang.audit.inputs import Recorded
from baohuang.eventlog import chain
from baohuang.eventlog.chain import ChainBroken, PublicEvent, Tip, instant
from baohuang.eventlog.codec import decode
from baohuang.eventlog.json_codec import CodecError
from baohuang.eventlog.port import NO_POSITION, Head, StoredEvent, StreamId, Version
from baohuang.rules.events import Event
from baohuang.rules.state import Instant, PlayerId, Table


class Depth(enum.Enum):
    """How much of a stream is checked."""

    CHAIN = "chain"
    """Hashes, versions, positions, heads."""
    DECISIONS = "decisions"
    """All that, and every command decided and every deal made again."""


class StreamAudit:
    """Follows one stream; holds the state of the table and the events of one command.

    It begins with the stream's first event, or `after` another one, whose hash it then takes as given: what follows is
    decided again from the next HandStarted on, which holds the whole table.
    """

    def __init__(
        self,
        stream_id: StreamId,
        depth: Depth = Depth.DECISIONS,
        *,
        after: StoredEvent | None = None,
        as_shown: AsShown = all_of_it,
    ) -> None:
        self.tip: Tip = Tip(stream_id, after.version, after.hash) if after else chain.start(stream_id)
        self._position = after.position if after else NO_POSITION
        self._decisions = _DecisionAudit(stream_id, as_shown) if depth is Depth.DECISIONS else None
        if after and self._decisions:
            self._decisions.skip()

    def take(self, event: StoredEvent, public: PublicEvent | None = None) -> Iterator[Finding]:
        """Take in the next stored event, and tell what is wrong with it or with the command before it.

        `public` is what the chain is followed by where the salt is not known.
        """
        if event.position <= self._position:
            yield self._found(Check.POSITIONS, event.version, "it stands in the log before its predecessor")
        self._position = event.position
        gap = event.version != self.tip.version + 1
        yield from self._chained(event, public)
        if self._decisions is not None:
            if gap:
                self._decisions.skip()
            yield from self._decisions.take(event)

    @property
    def table(self) -> Table | None:
        """The table that the commands before the last one came to; None where that is not known, and for a player."""
        return self._decisions.table if self._decisions is not None else None

    def end_of_command(self) -> Iterator[Finding]:
        """Tell what is wrong with the command whose events came last, all of which are in."""
        if self._decisions is not None:
            yield from self._decisions.end()

    def end(self, head: Head | None) -> Iterator[Finding]:
        """Tell what is wrong with the last command, and whether the stream ends where its head says."""
        yield from self.end_of_command()
        tip = self.tip
        if head is None:
            yield self._found(Check.HEAD, tip.version, "the stream has no head: it was removed")
        elif head.version > tip.version:
            missing = f"{head.version - tip.version} of {head.version} events"
            yield self._found(Check.HEAD, tip.version, f"the stream ends here, and {missing} are missing behind it")
        elif head.version < tip.version:
            more = tip.version - head.version
            message = f"{more} events stand behind the version at which the stream's head ends it"
            yield self._found(Check.HEAD, Version(head.version + 1), message)
        elif head.hash != tip.hash:
            yield self._found(Check.HEAD, tip.version, "the head has another hash than the last event")

    def _chained(self, event: StoredEvent, public: PublicEvent | None) -> Iterator[Finding]:
        """Follow the chain; after a break go on from what is stored, so that each break is told once."""
        try:
            self.tip = chain.follow(self.tip, public) if public else chain.verify(self.tip, (event,))
        except ChainBroken as broken:
            yield self._found(Check.CHAIN, broken.version, broken.flaw.value)
            self.tip = Tip(self.tip.stream_id, event.version, event.hash)

    def _found(self, check: Check, version: Version, message: str) -> Finding:
        return Finding(check, self.tip.stream_id, version, message)


class _DecisionAudit:
    """Puts the events of each command together and has them decided again."""

    def __init__(self, stream_id: StreamId, as_shown: AsShown) -> None:
        self._stream_id = stream_id
        self._decisions = Decisions(stream_id, as_shown)
        self._deals = DealAudit()
        self._command: list[tuple[StoredEvent, Event]] = []

    def take(self, stored: StoredEvent) -> Iterator[Finding]:
        if self._command and _key(self._command[0][0]) != _key(stored):
            yield from self._decided()
        try:
            event = decode(stored.type, stored.data)
        except CodecError as error:
            message = f"{error}; the rest of the hand was not decided again"
            yield Finding(Check.EVENT, self._stream_id, stored.version, message)
            self.skip()
            return
        self._command.append((stored, event))
        try:
            wrong = list(self._deals.take(stored.version, event))
        except NO_DATA:
            self._deals = DealAudit()
            return
        for one in wrong:
            yield Finding(Check.DEAL, self._stream_id, Version(one.version), one.message, one.clause)

    @property
    def table(self) -> Table | None:
        return self._decisions.table

    def skip(self) -> None:
        """Go on after a hole: what is known of the table is not so any more."""
        self._command.clear()
        self._deals = DealAudit()
        self._decisions.lose()

    def end(self) -> Iterator[Finding]:
        if self._command:
            yield from self._decided()

    def _decided(self) -> Iterator[Finding]:
        first, _ = self._command[0]
        events = tuple(event for _, event in self._command)
        self._command.clear()
        at = Instant(instant(first.recorded_at))
        yield from self._decisions.follow(Recorded(first.version, PlayerId(first.actor), at, events))


def _key(stored: StoredEvent) -> tuple[object, ...]:
    """Return what all events of one command have in common, and no two commands."""
    return stored.actor, stored.request_id, stored.recorded_at
