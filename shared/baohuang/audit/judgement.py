"""A ruling told to whom it is about: what was decided, by which clause, and the moments it rests on. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from baohuang.audit.clauses import Clause
from baohuang.audit.told import Told, ordinal, several
from baohuang.audit.words import CLOSINGS, FINES, TRUSTEESHIPS, UNSEATINGS
from baohuang.eventlog.port import Version
from baohuang.rules import events as ev
from baohuang.rules.state import Instant, PlayerId


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that happened: when by the database's clock, and which event of the stream says so."""

    at: Instant
    version: Version
    told: Told


@dataclass(frozen=True, slots=True)
class Reversal:
    """What took a ruling back: where it stands, when it was decided, by whom, and why in his words."""

    version: Version
    decided_at: Instant
    by: str
    reason: str
    told: Told


@dataclass(frozen=True, slots=True)
class Judgement:
    """A ruling explained. `follows`: deciding it again from the log alone gives the same, on a record that is whole."""

    version: Version
    ruling: str
    decided: Told
    rule: str
    clause: Clause
    """The sentence of the clause that matters here, without code names."""
    decided_at: Instant
    timeline: tuple[Moment, ...]
    follows: bool
    findings: tuple[str, ...] = ()
    """What is wrong with the record from the beginning of the hand up to this ruling, as verification says it."""
    wrong: tuple[Told, ...] = ()
    """The same as one can tell it to the players."""
    reversed_by: Reversal | None = None
    """What took it back; None: it stands."""


def players_of(ruling: ev.Event, players: Sequence[PlayerId]) -> tuple[PlayerId, ...]:
    """Return whom a ruling is about; `players` are those of the hand, by seat."""
    match ruling:
        case ev.TurnExtended(seats=seats) | ev.HandVoided(trustees=seats) | ev.TableDissolved(trustees=seats):
            return tuple(players[seat] for seat in seats if 0 <= seat < len(players))
        case ev.VoidReversed(players=all_five):
            return all_five
        case _:
            player: PlayerId | None = getattr(ruling, "player", None)
            return (player,) if player else ()


def decided(ruling: ev.Event) -> Told:  # noqa: PLR0911 - one line an event
    """Say what was decided. Raises ValueError for what is no ruling."""
    match ruling:
        case ev.TrusteeshipEntered():
            return _entered(ruling)
        case ev.TrusteeshipMadePermanent(seat=seat, player=who):
            return Told(
                f"the trusteeship of seat {seat} ({who}) lasts to the end of the hand",
                f"座位 {seat}（{who}）的托管持续到该局结束",
            )
        case ev.PlayerFined():
            return _fined(ruling)
        case ev.TurnExtended():
            return _extended(ruling)
        case ev.HandVoided(note=note):
            return Told(f"the hand is void and not scored{_noted(note)}", f"该局作废，不计分{_note(note)}")
        case ev.FineReversed() | ev.VoidReversed():
            return _reversed(ruling)
        case _:
            return _of_seats(ruling)


def _entered(ruling: ev.TrusteeshipEntered) -> Told:
    why, seat, who = TRUSTEESHIPS[ruling.reason], ruling.seat, ruling.player
    time = ordinal(ruling.entry)
    return Told(
        f"seat {seat} ({who}) entered trusteeship, for the {time} time in this hand, because {why.english}",
        f"座位 {seat}（{who}）进入托管，本局第 {ruling.entry} 次，原因：{why.chinese}",
    )


def _fined(ruling: ev.PlayerFined) -> Told:
    why, seat, who, points = FINES[ruling.reason], ruling.seat, ruling.player, -ruling.points
    when = Told("after", "之后") if ruling.roles_settled else Told("before", "之前")
    return Told(
        f"{who} at seat {seat} was fined {points} points, {why.english} {when.english} the roles were settled",
        f"座位 {seat} 的 {who} 被罚 {points} 分，原因：身份确定{when.chinese}{why.chinese}",
    )


def _extended(ruling: ev.TurnExtended) -> Told:
    seats, missed, due_at = several(ruling.seats), ruling.missed_due_at, ruling.due_at
    return Told(
        f"the deadline of {seats.english}, {missed}, was not enforced; the turn now ends at {due_at}",
        f"{seats.chinese} 的期限 {missed} 未予执行；本轮延长至 {due_at}",
    )


def _reversed(ruling: ev.FineReversed | ev.VoidReversed) -> Told:
    version, note = ruling.reverses, ruling.note
    match ruling:
        case ev.FineReversed(seat=seat, player=who, points=points):
            return Told(
                f"the fine of {who} at seat {seat}, version {version}, is taken back: "
                f"the player gets {points} points{_noted(note)}",
                f"撤销版本 {version} 对座位 {seat} 的 {who} 的罚分，退还 {points} 分{_note(note)}",
            )
        case ev.VoidReversed(hand=number):
            points_by_seat = ", ".join(f"{points:+d}" if points else "0" for points in ruling.points)
            return Told(
                f"hand {number} is not void any more, version {version} being taken back: "
                f"it is scored, by seat, {points_by_seat}{_noted(note)}",
                f"撤销版本 {version} 的作废，第 {number} 局计分，各座位依次为 {points_by_seat}{_note(note)}",
            )


def _of_seats(ruling: ev.Event) -> Told:
    match ruling:
        case ev.TableDissolved(trustees=trustees):
            seats, were = several(trustees), "was" if len(trustees) == 1 else "were"
            return Told(
                f"the table is dissolved, since {seats.english} {were} in trusteeship when the hand ended",
                f"牌桌解散：该局结束时{seats.chinese} 处于托管",
            )
        case ev.TableClosed(reason=reason, note=note):
            why = CLOSINGS[reason]
            return Told(f"the table is closed {why.english}{_noted(note)}", f"牌桌{why.chinese}{_note(note)}")
        case ev.PlayerUnseated(seat=seat, player=who, reason=cause):
            reason_told = UNSEATINGS[cause]
            return Told(
                f"{who} lost seat {seat}, {reason_told.english}", f"{who} 失去座位 {seat}，原因：{reason_told.chinese}"
            )
        case ev.PlayerBanned(player=who, note=note):
            return Told(f"{who} is banned{_noted(note)}", f"{who} 被禁止参加牌局{_note(note)}")
        case ev.PlayerReinstated(player=who, note=note):
            return Told(f"{who} may play again{_noted(note)}", f"{who} 可以重新参加牌局{_note(note)}")
        case _:
            raise ValueError(f"{type(ruling).__name__} is no ruling")


def _noted(note: str) -> str:
    return f" ({note})" if note else ""


def _note(note: str) -> str:
    return f"（{note}）" if note else ""
