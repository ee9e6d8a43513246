"""Explaining a ruling from the log: its hand is followed from its first event on, and the ruling decided again."""

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from baohuang.audit.clauses import clause_of
from baohuang.audit.findings import Finding
from baohuang.audit.judgement import Judgement, Reversal, decided
from baohuang.audit.pausing import Pause, never
from baohuang.audit.standing import audit_from
from baohuang.audit.stream import StreamAudit
from baohuang.audit.timeline import Case, Happened, timeline
from baohuang.audit.told import Told, person
from baohuang.eventlog.codec import decode
from baohuang.eventlog.json_codec import CodecError
from baohuang.eventlog.port import EventReader, StoredEvent, StreamId, Version
from baohuang.eventlog.reading_back import hand_until
from baohuang.rules import events as ev

_PAGE: Final = 100
_REVERSIBLE: Final = (ev.PlayerFined, ev.HandVoided, ev.PlayerBanned)


class NotARulingError(Exception):
    """There is no ruling at that version of the stream; the message says what is there."""


class NothingThereError(NotARulingError):
    """The stream has no event of that version."""


@dataclass(slots=True)
class _Account:
    """What is known of a stream as far as it was read: its findings, and the current hand's events."""

    audit: StreamAudit
    findings: list[Finding] = field(default_factory=list)
    events: dict[Version, Happened] = field(default_factory=dict)

    def take(self, stored: StoredEvent) -> None:
        self.findings += self.audit.take(stored)
        if (one := _read(stored)) is None:
            return  # which the audit has found
        if isinstance(one.event, ev.HandStarted):
            self.events.clear()
        self.events[stored.version] = one


async def explain(log: EventReader, stream_id: StreamId, version: Version, pause: Pause = never) -> Judgement:
    """Explain the ruling at a version, the record being checked from the beginning of its hand on, up to the ruling.

    What stands behind it, that it was taken back among that, is taken as given. Costs the hand, not the stream.
    Raises NotARulingError, NothingThereError, LogUnavailable.
    """
    until = await hand_until(log, stream_id, version)
    if not until or until[-1].version != version:
        what = f"there is no table {stream_id}"
        if until or await log.head(stream_id):
            what = f"{stream_id} has no event of version {version}"
        raise NothingThereError(what)
    account = _Account(await audit_from(log, until[0]))
    for stored in until:
        account.take(stored)
        await pause()
    ruling = account.events.get(version)
    if ruling is None or not ev.is_ruling(ruling.event):
        raise NotARulingError(f"{until[-1].type} stands there, which is no ruling")
    before = dict(account.events)
    async for stored in _rest_of_command(log, ruling.stored):
        account.take(stored)
        await pause()
    account.findings += account.audit.end_of_command()
    later = [one async for one in _later(log, ruling, before.values(), pause)]
    return _judgement(Case(ruling, before, later), account.findings)


async def _rest_of_command(log: EventReader, stored: StoredEvent) -> AsyncIterator[StoredEvent]:
    """Yield the events after one that its command brought about as well."""
    async for one in _behind(log, stored):
        if (one.actor, one.request_id) != (stored.actor, stored.request_id):
            return
        yield one


async def _later(
    log: EventReader, ruling: Happened, before: Iterable[Happened], pause: Pause
) -> AsyncIterator[Happened]:
    """Yield what is known of the ruling from behind it: the rest of its hand, and what took it back, if that can be.

    After a hand with a ruling that can be taken back the table has no other (FINE-2, TRUST-4).
    """
    reversible = isinstance(ruling.event, _REVERSIBLE)
    if not reversible and not _is_played(before):
        return
    async for stored in _behind(log, ruling.stored):
        await pause()
        one = _read(stored)
        if one is None:
            continue
        if isinstance(one.event, ev.HandStarted) or (isinstance(one.event, ev.HandFinished) and not reversible):
            return
        yield one
        if isinstance(one.event, ev.PlayerReinstated):
            return


def _is_played(events: Iterable[Happened]) -> bool:
    """Tell whether the hand of the events goes on."""
    kinds = {type(one.event) for one in events}
    return ev.HandStarted in kinds and ev.HandFinished not in kinds


async def _behind(log: EventReader, stored: StoredEvent) -> AsyncIterator[StoredEvent]:
    after = stored.version
    while page := await log.read_stream(stored.stream_id, after, _PAGE):
        for one in page:
            yield one
        after = page[-1].version


def _read(stored: StoredEvent) -> Happened | None:
    try:
        return Happened(stored, decode(stored.type, stored.data))
    except CodecError:
        return None


def _judgement(case: Case, findings: Sequence[Finding]) -> Judgement:
    ruling: Any = case.ruling.event
    return Judgement(
        version=case.ruling.stored.version,
        ruling=type(ruling).__name__,
        decided=decided(ruling),
        rule=ruling.rule,
        clause=clause_of(ruling),
        decided_at=ruling.decided_at,
        timeline=timeline(case),
        follows=not findings,
        findings=tuple(map(str, findings)),
        wrong=tuple(finding.told for finding in findings),
        reversed_by=next((reversal for one in case.later if (reversal := _reversal(case.ruling, one))), None),
    )


def _reversal(ruling: Happened, later: Happened) -> Reversal | None:
    """Return what took the ruling back, if this did."""
    match later.event:
        case ev.FineReversed(reverses=version) | ev.VoidReversed(reverses=version) if version == ruling.stored.version:
            what = Told("taken back", "撤销")
        case ev.PlayerReinstated() if isinstance(ruling.event, ev.PlayerBanned):
            what = Told("lifted", "解除")
        case _:
            return None
    event: Any = later.event
    version, by, reason = later.stored.version, later.stored.actor, event.note
    who = person(by)
    told = Told(
        f"{what.english} at version {version} by {who.english}: {reason}",
        f"已由 {who.chinese} 在版本 {version} {what.chinese}：{reason}",
    )
    return Reversal(version, event.decided_at, by, reason, told)
