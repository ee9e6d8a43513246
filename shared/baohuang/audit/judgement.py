"""A ruling told to whom it is about: what was decided, by which clause, and the moments it rests on. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from baohuang.audit.clauses import CLAUSES, Clause
from baohuang.eventlog.port import Version
from baohuang.rules import events as ev
from baohuang.rules.state import Instant, PlayerId

_UNKNOWN: Final = Clause("(no text of this clause is kept here)", "（此处未收录该条款的文本）")


@dataclass(frozen=True, slots=True)
class Told:
    """The same in both languages."""

    english: str
    chinese: str


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that happened: when by the database's clock, and which event of the stream says so."""

    at: Instant
    version: Version
    told: Told


@dataclass(frozen=True, slots=True)
class Judgement:
    """A ruling explained. `follows`: deciding it again from the log alone gives the same, on a record that is whole."""

    version: Version
    ruling: str
    decided: Told
    rule: str
    clause: Clause
    decided_at: Instant
    timeline: tuple[Moment, ...]
    follows: bool
    findings: tuple[str, ...] = ()
    """What is wrong with the record from the beginning of the hand up to this ruling."""


def clause_of(rule: str) -> Clause:
    """Return the text of a clause."""
    return CLAUSES.get(rule, _UNKNOWN)


def players_of(ruling: ev.Event, players: Sequence[PlayerId]) -> tuple[PlayerId, ...]:
    """Return whom a ruling is about; `players` are those of the hand, by seat."""
    match ruling:
        case ev.TurnExtended(seats=seats) | ev.HandVoided(trustees=seats) | ev.TableDissolved(trustees=seats):
            return tuple(players[seat] for seat in seats if seat < len(players))
        case ev.VoidReversed(players=all_five):
            return all_five
        case _:
            player: PlayerId | None = getattr(ruling, "player", None)
            return (player,) if player else ()


def decided(ruling: ev.Event) -> Told:  # noqa: C901, PLR0911, PLR0912 - one line an event
    """Say what was decided. Raises ValueError for what is no ruling."""
    match ruling:
        case ev.TrusteeshipEntered(seat=seat, player=who, reason=reason, entry=entry):
            return Told(
                f"seat {seat} ({who}) entered trusteeship, for the {entry}. time in this hand: {reason.name}",
                f"座位 {seat}（{who}）进入托管，本局第 {entry} 次，原因：{reason.name}",
            )
        case ev.TrusteeshipMadePermanent(seat=seat, player=who):
            return Told(
                f"the trusteeship of seat {seat} ({who}) lasts to the end of the hand",
                f"座位 {seat}（{who}）的托管持续到该局结束",
            )
        case ev.PlayerFined(seat=seat, player=who, points=points, reason=reason):
            return Told(
                f"{who} at seat {seat} was fined {points} points: {reason.name}",
                f"座位 {seat} 的 {who} 被罚 {points} 分，原因：{reason.name}",
            )
        case ev.TurnExtended(seats=seats, missed_due_at=missed, due_at=due_at):
            return Told(
                f"the deadline {missed} of seats {_list(seats)} was not enforced; the turn ends at {due_at}",
                f"座位 {_list(seats)} 的期限 {missed} 未予执行；本轮延长至 {due_at}",
            )
        case ev.HandVoided(note=note):
            return Told(f"the hand is void and not scored{_note(note)}", f"该局作废，不计分{_note(note)}")
        case ev.FineReversed(seat=seat, player=who, points=points, reverses=version, note=note):
            return Told(
                f"the fine of {who} at seat {seat}, version {version}, is taken back: "
                f"he gets {points} points{_note(note)}",
                f"撤销版本 {version} 对座位 {seat} 的 {who} 的罚分，退还 {points} 分{_note(note)}",
            )
        case ev.VoidReversed(hand=number, reverses=version, points=points, note=note):
            return Told(
                f"hand {number} is not void any more, version {version} being taken back: "
                f"it is scored {_list(points)}{_note(note)}",
                f"撤销版本 {version} 的作废，第 {number} 局按 {_list(points)} 计分{_note(note)}",
            )
        case ev.TableDissolved(trustees=seats):
            return Told(
                f"the table is dissolved: seats {_list(seats)} were in trusteeship",
                f"牌桌解散：座位 {_list(seats)} 处于托管",
            )
        case ev.TableClosed(reason=reason, note=note):
            return Told(
                f"the table is closed: {reason.name}{_note(note)}", f"牌桌关闭，原因：{reason.name}{_note(note)}"
            )
        case ev.PlayerUnseated(seat=seat, player=who, reason=reason):
            return Told(f"{who} lost seat {seat}: {reason.name}", f"{who} 失去座位 {seat}，原因：{reason.name}")
        case ev.PlayerBanned(player=who, note=note):
            return Told(f"{who} is banned{_note(note)}", f"{who} 被禁止参加牌局{_note(note)}")
        case ev.PlayerReinstated(player=who, note=note):
            return Told(f"{who} may play again{_note(note)}", f"{who} 可以重新参加牌局{_note(note)}")
        case _:
            raise ValueError(f"{type(ruling).__name__} is no ruling")


def moments(version: Version, at: Instant, event: ev.Event) -> Iterator[Moment]:
    """Tell an event that a ruling rests on: when it was recorded, and what it says of clock and lines."""
    name, due_at = type(event).__name__, getattr(event, "due_at", "")
    match event:
        case ev.ConnectionLost(player=who, lost_at=when):
            yield Moment(when, version, Told(f"the line of {who} was lost", f"{who} 的连接断开"))
        case ev.ConnectionRestored(player=who, restored_at=when):
            yield Moment(when, version, Told(f"{who} was back on the line", f"{who} 的连接恢复"))
        case _ if due_at and not ev.is_ruling(event):
            opened = Told(
                f"the turn was opened by {name}{_by(event)}; its deadline: {due_at}",
                f"{name}{_by(event)} 开始了这一轮，期限：{due_at}",
            )
            yield Moment(at, version, opened)
        case _ if ev.is_ruling(event):
            told = decided(event)
            yield Moment(at, version, Told(f"ruling: {told.english}", f"裁定：{told.chinese}"))
        case _:
            yield Moment(at, version, Told(f"{name} was recorded{_by(event)}", f"记录了 {name}{_by(event)}"))


def _by(event: Any) -> str:
    return f" (seat {event.seat})" if hasattr(event, "seat") else ""


def _list(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers))


def _note(note: str) -> str:
    return f" ({note})" if note else ""
