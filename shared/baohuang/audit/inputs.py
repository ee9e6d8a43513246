"""From what was recorded back to the command: the inputs of a decision, all of which its events hold.

`decide` takes a table, and a command with a clock reading, a seed, who may not play, and for the clock what is known of
the players' lines. Each of these is written into the events that come of it, so the command can be had from them; that
they follow from it is then for `decide` to say. Pure.
"""

from dataclasses import dataclass
from typing import Final, TypeVar

from baohuang.rules import commands as cmd
from baohuang.rules import events as ev
from baohuang.rules.clock import deadline_of
from baohuang.rules.state import (
    Answer,
    ClosingReason,
    FineReason,
    Instant,
    Phase,
    PlayerId,
    Table,
    TrusteeshipReason,
    UnseatingReason,
)

_T = TypeVar("_T")
_UNUSED_SEED: Final = "00" * 32
_BY_CLOCK: Final = (TrusteeshipReason.TIMEOUT, UnseatingReason.NOT_READY, UnseatingReason.WAITED_TOO_LONG)
_SYSTEM: Final = "@"
"""How the names begin under which the service itself acts; no player's does."""


class UnaccountableError(Exception):
    """No command begins with such an event, or not by such an actor."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """The events of one command, in order, the first of them at `version`; who gave it, and by which clock reading."""

    version: int
    actor: PlayerId
    at: Instant
    events: tuple[ev.Event, ...]


def command_of(table: Table | None, recorded: Recorded) -> cmd.Command:
    """Return the command that was given to the table as it was. Raises UnaccountableError."""
    unseated = _kept_away(recorded.events)
    return cmd.Command(
        player=recorded.actor,
        action=_action(table, recorded),
        at=recorded.at,
        seed=_seed(recorded.events),
        elsewhere=frozenset(one.player for one in unseated if one.reason is UnseatingReason.IN_ANOTHER_HAND),
        banned=frozenset(one.player for one in unseated if one.reason is UnseatingReason.BANNED),
    )


def _seed(events: tuple[ev.Event, ...]) -> str:
    """Return the first seed that was drawn; deciding takes no other, what is drawn after it follows from it."""
    drawn = (event.hidden for event in events if isinstance(event, ev.SeedCommitted))
    hidden = next(drawn, None)
    return hidden.seed if hidden else _UNUSED_SEED


def _kept_away(events: tuple[ev.Event, ...]) -> list[ev.PlayerUnseated]:
    """Return who was unseated as another got ready, being known not to be allowed to play."""
    kept = (UnseatingReason.IN_ANOTHER_HAND, UnseatingReason.BANNED)
    return [event for event in events if isinstance(event, ev.PlayerUnseated) and event.reason in kept]


def _action(table: Table | None, recorded: Recorded) -> cmd.Action:
    events = [event for event in recorded.events if event not in _kept_away(recorded.events)]
    if not events:
        raise UnaccountableError("players are unseated, and nobody gets ready")
    first = events[0]
    by_system = recorded.actor.startswith(_SYSTEM)
    if by_system != _is_of_system(first):
        who = "the service itself" if by_system else "somebody else than the service itself"
        raise UnaccountableError(f"{type(first).__name__} by {who}")
    if isinstance(first, ev.TableOpened):
        return _opening(first, events)
    if by_system:
        return _own_action(table, first, recorded.events)
    return _seating(first) or _standing(first) or _move(table, first)


def _is_of_system(first: ev.Event) -> bool:
    match first:
        case ev.ConnectionLost() | ev.ConnectionRestored() | ev.TurnExtended():
            return True
        case ev.TrusteeshipEntered(reason=reason) | ev.PlayerUnseated(reason=reason):
            return reason in _BY_CLOCK
        case ev.TableClosed(reason=ClosingReason.ABANDONED):
            return True
        case _:
            return False


def _own_action(table: Table | None, first: ev.Event, events: tuple[ev.Event, ...]) -> cmd.Action:
    """Return what the service did of itself: keep a deadline, report a line."""
    match first:
        case ev.ConnectionLost(seat=seat, lost_at=since):
            return cmd.ReportConnection(seat, connected=False, since=since)
        case ev.ConnectionRestored(seat=seat, restored_at=since):
            return cmd.ReportConnection(seat, connected=True, since=since)
        case _ if table is None:
            raise _no_beginning(first)
        case _:
            late = [one for one in events if isinstance(one, ev.TrusteeshipEntered) and one.reason in _BY_CLOCK]
            lost = tuple(cmd.LostLine(one.seat, one.connection_lost_at) for one in late if one.connection_lost_at)
            watching = tuple(one.seat for one in late if not one.connection_lost_at)
            return cmd.ExpireDeadline(deadline_of(table), lost, watching)


def _opening(first: ev.TableOpened, events: list[ev.Event]) -> cmd.OpenTable:
    players = tuple(event.player for event in events if isinstance(event, ev.PlayerSat))
    return cmd.OpenTable(first.table_id, first.ruleset, first.options, first.invitation_digest, players)


def _seating(first: ev.Event) -> cmd.Action | None:
    match first:
        case ev.PlayerSat(seat=seat):
            return cmd.SitDown(seat)
        case ev.PlayerStood():
            return cmd.StandUp()
        case ev.ReadinessSet(ready=ready, entropy=entropy):
            return cmd.SetReady(ready, entropy)
        case ev.TableClosed(note=note):
            return cmd.CloseTable(note)
        case _:
            return None


def _standing(first: ev.Event) -> cmd.Action | None:  # noqa: PLR0911 - one line an event
    match first:
        case ev.HandVoided(note=note):
            return cmd.VoidHand(note)
        case ev.TrusteeshipEntered(reason=TrusteeshipReason.REQUESTED):
            return cmd.RequestTrusteeship()
        case ev.TrusteeshipEntered(reason=TrusteeshipReason.LEFT):
            return cmd.LeaveTable()
        case ev.TrusteeshipCancelled():
            return cmd.CancelTrusteeship()
        case ev.PlayerFined(reason=FineReason.FORFEITED):
            return cmd.ForfeitSeat()
        case ev.PlayerFined(seat=seat):
            return cmd.KickPlayer(seat)
        case ev.FineReversed(reverses=version, note=note):
            return cmd.ReverseRuling(version, note, ev.PlayerFined.__name__)
        case ev.VoidReversed(reverses=version, note=note):
            return cmd.ReverseRuling(version, note, ev.HandVoided.__name__)
        case _:
            return None


def _move(table: Table | None, first: ev.Event) -> cmd.Action:  # noqa: PLR0911 - one line an event
    match first:
        case ev.CardsPlayed(cards=cards):
            return cmd.Play(cards)
        case ev.Passed():
            return cmd.Pass()
        case ev.EmperorEnthroned(open_solo=False):
            return cmd.Enthrone()
        case ev.EmperorEnthroned() | ev.OpenSoloDeclared():
            return cmd.DeclareOpenSolo()
        case ev.CrownYielded():
            return cmd.Yield()
        case ev.CardCalled(card=card):
            return cmd.CallCard(card)
        case ev.TributeReturned(hidden=hidden):
            return cmd.ReturnTribute(_told(first, hidden).cards)
        case ev.Answered(hidden=hidden):
            return _answer(table, _told(first, hidden).answer)
        case _:
            raise _no_beginning(first)


def _answer(table: Table | None, answer: Answer) -> cmd.Move:
    phase = table.hand.phase if table and table.hand else None
    match phase:
        case Phase.SEIZE:
            return cmd.AnswerSeize(answer)
        case Phase.KICK:
            return cmd.AnswerKick(answer)
        case _:
            return cmd.Declare(answer)


def _told(event: ev.Event, hidden: _T | None) -> _T:
    if hidden is None:
        raise UnaccountableError(f"{type(event).__name__} does not hold what was chosen")
    return hidden


def _no_beginning(first: ev.Event) -> UnaccountableError:
    return UnaccountableError(f"no command begins with {type(first).__name__} here")
