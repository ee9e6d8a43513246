"""The moments that a ruling hangs on, told in the order of time. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from baohuang.audit.happenings import did, happened
from baohuang.audit.judgement import Moment, decided, players_of
from baohuang.audit.told import Names, Told, length, person
from baohuang.eventlog.chain import instant
from baohuang.eventlog.port import StoredEvent, Version
from baohuang.rules import events as ev
from baohuang.rules.clock import NEVER
from baohuang.rules.state import FineReason, Instant, PlayerId, TrusteeshipReason

_OWN: Final = (TrusteeshipReason.REQUESTED, TrusteeshipReason.LEFT, TrusteeshipReason.FORFEITED, FineReason.FORFEITED)
_BY_OPERATOR: Final = (TrusteeshipReason.KICKED, FineReason.KICKED)


@dataclass(frozen=True, slots=True)
class Happened:
    """A stored event, and what it says."""

    stored: StoredEvent
    event: ev.Event

    @property
    def at(self) -> Instant:
        """The clock's reading at which it was recorded."""
        return Instant(instant(self.stored.recorded_at))


@dataclass(frozen=True, slots=True)
class Case:
    """A ruling with what is known around it: its hand up to it, by version, and the rest of the hand behind it."""

    ruling: Happened
    before: Mapping[Version, Happened]
    later: Sequence[Happened]

    @property
    def hand(self) -> ev.HandStarted | None:
        """The event that began the hand; None before the first."""
        began = (one.event for one in self.before.values())
        return next((event for event in began if isinstance(event, ev.HandStarted)), None)

    @property
    def players(self) -> tuple[PlayerId, ...]:
        """Those of the hand, by seat."""
        return self.hand.players if self.hand else ()

    @property
    def about(self) -> tuple[PlayerId, ...]:
        """Those whom the ruling is about."""
        return players_of(self.ruling.event, self.players)

    @property
    def names(self) -> Names:
        """What the players are called."""
        return Names(self.players)


def timeline(case: Case) -> tuple[Moment, ...]:
    """Tell what the ruling rests on, what is known of lines, the last that was heard of its players, and the clock."""
    told = [
        moment
        for version in sorted(_told_of(case))
        if version in case.before
        for moment in _moments(case.before[version], case.names)
    ]
    told += (moment for player in case.about for moment in _last_sign(case, player))
    told += _lines_known_later(case)
    told += _roles(case)
    told += _clock(case)
    return tuple(sorted(told, key=lambda moment: (moment.at, moment.version)))


def _told_of(case: Case) -> set[Version]:
    """Return the versions of the events before the ruling that belong to what it hangs on."""
    own, versions = case.ruling.stored.version, set(_rests_on(case))
    for version, one in case.before.items():
        match one.event:
            case ev.ConnectionLost(player=player) | ev.ConnectionRestored(player=player) if player in case.about:
                versions.add(version)
            case ev.TrusteeshipEntered() if _is_fourth(case.ruling.event, one.event):
                versions.add(version)
            case _:
                pass
    return versions - {own}


def _is_fourth(ruling: ev.Event, entry: ev.TrusteeshipEntered) -> bool:
    """Tell whether the ruling is that so many entries of a seat are enough, and this is one of them (TRUST-3)."""
    match ruling:
        case ev.TrusteeshipMadePermanent(rule="TRUST-3", seat=seat):
            return seat == entry.seat
        case _:
            return False


def _rests_on(case: Case) -> Iterator[Version]:
    """Give the versions that the ruling rests on; of a turn that was extended those of its opening as well.

    A fine names the turn in which it was made, which decides nothing: it hangs on the roles.
    """
    if isinstance(case.ruling.event, ev.PlayerFined):
        return
    left = [*getattr(case.ruling.event, "rests_on", ())]
    while left:
        version = Version(left.pop())
        yield version
        one = case.before.get(version)
        if one and isinstance(one.event, ev.TurnExtended):
            left += one.event.rests_on


def _moments(one: Happened, names: Names) -> Iterator[Moment]:
    version, told = one.stored.version, happened(one.event, names)
    match one.event:
        case ev.ConnectionLost(lost_at=when) | ev.ConnectionRestored(restored_at=when):
            yield Moment(when or one.at, version, told)
        case _ if _opens_a_turn(one.event):
            yield Moment(one.at, version, _opening(told, one.event, names))
        case _:
            yield Moment(one.at, version, told)


def _opens_a_turn(event: Any) -> bool:
    return not ev.is_ruling(event) and bool(getattr(event, "due_at", NEVER))


def _opening(told: Told, event: Any, names: Names) -> Told:
    """Tell an event that opened a turn, and until when."""
    due_at, turn = event.due_at, getattr(event, "turn", None)
    match event:
        case ev.PlayerSat() | ev.ReadinessSet(ready=False) | ev.HandFinished():
            until = Told(f"the time to get ready ran until {due_at}", f"准备的期限：{due_at}")
        case ev.ReadinessSet():
            until = Told(f"a hand had to begin until {due_at}", f"开局的期限：{due_at}")
        case ev.CrownOffered(seat=seat):
            until = _turn(names.of(seat), due_at)
        case _ if turn is not None:
            until = _turn(names.of(turn), due_at)
        case _:
            until = Told(f"all who were asked had to answer by {due_at}", f"被问到的座位须在 {due_at} 之前作答")
    return Told(f"{told.english}; {until.english}", f"{told.chinese}；{until.chinese}")


def _turn(who: Told, due_at: Instant) -> Told:
    return Told(f"the turn of {who.english} began, its deadline being {due_at}", f"轮到 {who.chinese}，期限：{due_at}")


def _last_sign(case: Case, player: PlayerId) -> Iterator[Moment]:
    """Tell what the player did last before the ruling, by the first event of his own that his command brought about."""
    command = case.ruling.stored.request_id
    own = [one for one in case.before.values() if str(one.stored.actor) == player and one.stored.request_id != command]
    if not own:
        return
    last = [one for one in own if one.stored.request_id == own[-1].stored.request_id]
    first = next((one for one in last if not isinstance(one.event, ev.PlayerUnseated)), last[0])
    told = did(first.event, case.names)
    sign = Told(f"the last that {player} did before: {told.english}", f"{player} 此前最后一次操作：{told.chinese}")
    yield Moment(first.at, first.stored.version, sign)


def _lines_known_later(case: Case) -> Iterator[Moment]:
    """Tell what was so of lines by the time of the ruling, and was recorded behind it."""
    decided_at: Instant = getattr(case.ruling.event, "decided_at", NEVER)
    for one in case.later:
        if not isinstance(one.event, ev.ConnectionLost | ev.ConnectionRestored) or one.event.player not in case.about:
            continue
        for moment in _moments(one, case.names):
            if moment.at <= decided_at:
                told = moment.told
                noted = Told(f"{told.english} (recorded after the ruling)", f"{told.chinese}（裁定之后才记录）")
                yield replace(moment, told=noted)


def _roles(case: Case) -> Iterator[Moment]:
    """Tell when the roles were settled, which a fine hangs on (FINE-3), or that they were not."""
    if not isinstance(case.ruling.event, ev.PlayerFined):
        return
    settling = next((one for one in case.before.values() if _settles(one.event)), None)
    if settling is None:
        open_yet = Told("by then the roles were not settled", "此时身份尚未确定")
        yield Moment(case.ruling.event.decided_at, case.ruling.stored.version, open_yet)
    else:
        told = happened(settling.event, case.names)
        settled = Told(f"{told.english}: with that the roles were settled", f"{told.chinese}，身份由此确定")
        yield Moment(settling.at, settling.stored.version, settled)


def _settles(event: ev.Event) -> bool:
    match event:
        case ev.EmperorEnthroned(roles_settled=settled) | ev.SeizePublished(roles_settled=settled):
            return settled
        case _:
            return isinstance(event, ev.CardCalled | ev.OpenSoloDeclared)


def _clock(case: Case) -> Iterator[Moment]:
    """Tell the deadline that was missed, since when a line was lost, and the reading at which it was decided."""
    event: Any = case.ruling.event
    version, told, missed = case.ruling.stored.version, decided(event), _missed(event)
    if missed:
        yield Moment(missed, version, Told("the deadline passed", "期限已到"))
    if lost := Instant(getattr(event, "connection_lost_at", NEVER)):
        yield Moment(lost, version, Told("since then the line was known to be lost", "自此刻起连接已知断开"))
    when = _read(case, missed) if missed else _by_whom(case)
    reading = Told(f"{when.english}: {told.english}", f"{when.chinese}：{told.chinese}")
    yield Moment(event.decided_at, version, reading)


def _missed(event: ev.Event) -> Instant:
    match event:
        case ev.TurnExtended(missed_due_at=missed):
            return missed
        case ev.TrusteeshipEntered(due_at=due_at) | ev.PlayerUnseated(due_at=due_at):
            return due_at
        case _:
            return NEVER


def _read(case: Case, missed: Instant) -> Told:
    """Say how long after the deadline the clock was read; of one not enforced what was allowed (TRUST-5)."""
    event: Any = case.ruling.event
    late, allowed = length(missed, event.decided_at), Told("", "")
    if isinstance(event, ev.TurnExtended) and case.hand:
        grace = case.hand.options.grace_seconds
        allowed = Told(f", {grace} s being allowed", f"（允许 {grace} 秒）")
    return Told(f"{late.english} after the deadline{allowed.english}", f"期限过后 {late.chinese}{allowed.chinese}")


def _by_whom(case: Case) -> Told:
    """Say who had it decided: the player himself, an operator, or nobody, where it follows from what happened."""
    event: Any = case.ruling.event
    who, reason = person(case.ruling.stored.actor), getattr(event, "reason", None)
    if reason in _OWN:
        return Told(f"{who.english}'s own doing", f"{who.chinese} 自行操作")
    is_operators = event.rule == "RULE-1" and not isinstance(event, ev.PlayerUnseated)
    if reason in _BY_OPERATOR or is_operators:
        return Told(f"decided by the operator {who.english}", f"管理员 {who.chinese} 裁定")
    return Told("decided at once", "随即裁定")
