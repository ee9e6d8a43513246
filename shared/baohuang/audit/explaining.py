"""Explaining a ruling from the log: its hand is followed from its first event on, and the ruling decided again."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from baohuang.audit.findings import Finding
from baohuang.audit.judgement import Judgement, Moment, Told, clause_of, decided, moments, players_of
from baohuang.audit.pausing import Pause, never
from baohuang.audit.standing import audit_from
from baohuang.audit.stream import StreamAudit
from baohuang.eventlog.chain import instant
from baohuang.eventlog.codec import CodecError, decode
from baohuang.eventlog.port import EventReader, StoredEvent, StreamId, Version
from baohuang.eventlog.reading_back import hand_until
from baohuang.rules import events as ev
from baohuang.rules.state import Instant, PlayerId

_PAGE: Final = 100


class NotARulingError(Exception):
    """There is no ruling at that version of the stream; the message says what is there."""


class NothingThereError(NotARulingError):
    """The stream has no event of that version."""


@dataclass(slots=True)
class _Account:
    """What is known of a stream as far as it was read: its findings, the current hand's events, who plays it."""

    audit: StreamAudit
    findings: list[Finding] = field(default_factory=list)
    events: dict[Version, tuple[StoredEvent, ev.Event]] = field(default_factory=dict)
    players: tuple[PlayerId, ...] = ()

    def take(self, stored: StoredEvent) -> None:
        self.findings += self.audit.take(stored)
        try:
            event = decode(stored.type, stored.data)
        except CodecError:
            return  # which the audit has found
        if isinstance(event, ev.HandStarted):
            self.events.clear()
            self.players = event.players
        self.events[stored.version] = stored, event


async def explain(log: EventReader, stream_id: StreamId, version: Version, pause: Pause = never) -> Judgement:
    """Explain the ruling at a version, the record being checked from the beginning of its hand on.

    Costs the hand, not the stream. Raises NotARulingError, NothingThereError, LogUnavailable.
    """
    until = await hand_until(log, stream_id, version)
    if not until or until[-1].version != version:
        raise NothingThereError("nothing stands there, which is no ruling")
    account = _Account(await audit_from(log, until[0]))
    for stored in until:
        account.take(stored)
        await pause()
    ruling = account.events.get(version)
    if ruling is None or not ev.is_ruling(ruling[1]):
        raise NotARulingError(f"{until[-1].type} stands there, which is no ruling")
    timeline = tuple(_timeline(account, ruling))
    async for stored in _rest_of_command(log, ruling[0]):
        account.take(stored)
        await pause()
    account.findings += account.audit.end_of_command()
    return _judgement(version, ruling[1], timeline, account.findings)


async def _rest_of_command(log: EventReader, stored: StoredEvent) -> AsyncIterator[StoredEvent]:
    """Yield the events after one that its command brought about as well."""
    after = stored.version
    while page := await log.read_stream(stored.stream_id, after, _PAGE):
        for one in page:
            if (one.actor, one.request_id) != (stored.actor, stored.request_id):
                return
            yield one
        after = page[-1].version


def _judgement(version: Version, ruling: Any, timeline: tuple[Moment, ...], findings: list[Finding]) -> Judgement:
    return Judgement(
        version=version,
        ruling=type(ruling).__name__,
        decided=decided(ruling),
        rule=ruling.rule,
        clause=clause_of(ruling.rule),
        decided_at=ruling.decided_at,
        timeline=timeline,
        follows=not findings,
        findings=tuple(map(str, findings)),
    )


def _timeline(account: _Account, ruling: tuple[StoredEvent, ev.Event]) -> Iterator[Moment]:
    """Give what the ruling rests on, what is known of lines, the last sign of life, the deadline, and the ruling."""
    stored, event = ruling
    about = players_of(event, account.players)
    rests_on = set(getattr(event, "rests_on", ()))
    told: list[Moment] = []
    for version, (one, happened) in account.events.items():
        is_line = isinstance(happened, ev.ConnectionLost | ev.ConnectionRestored) and happened.player in about
        if version < stored.version and (version in rests_on or is_line):
            told += moments(version, _at(one), happened)
    told += (moment for player in about for moment in _last_sign(account, stored, player))
    told += _clock(stored, event)
    yield from sorted(told, key=lambda moment: (moment.at, moment.version))


def _last_sign(account: _Account, ruling: StoredEvent, player: PlayerId) -> Iterator[Moment]:
    """Tell what last came from the player before the ruling, by the first event of the command that was recorded."""
    before = (one for one, _ in account.events.values() if one.request_id != ruling.request_id)
    own = [one for one in before if str(one.actor) == player]
    if own:
        first = next(one for one in own if one.request_id == own[-1].request_id)
        told = Told(f"the last command of {player} arrived: {first.type}", f"{player} 的最后一个指令到达：{first.type}")
        yield Moment(_at(first), first.version, told)


def _clock(stored: StoredEvent, event: Any) -> Iterator[Moment]:
    """Tell the deadline that was missed, since when a line was lost, and the reading at which it was decided."""
    missed = Instant(getattr(event, "missed_due_at", ""))
    if isinstance(event, ev.TrusteeshipEntered | ev.PlayerUnseated):
        missed = event.due_at
    if missed:
        yield Moment(missed, stored.version, Told("the deadline passed", "期限已到"))
    if lost := Instant(getattr(event, "connection_lost_at", "")):
        yield Moment(lost, stored.version, Told("since then the line was known to be lost", "自此刻起连接已知断开"))
    told = decided(event)
    by = Told(
        f"the clock read this as {stored.actor} had it decided: {told.english}",
        f"{stored.actor} 提请裁定时的时钟读数：{told.chinese}",
    )
    yield Moment(event.decided_at, stored.version, by)


def _at(stored: StoredEvent) -> Instant:
    return Instant(instant(stored.recorded_at))
