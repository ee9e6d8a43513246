"""Rulings in words, and who plays a seat: one short line each."""

from typing import Final, assert_never

from baohuang.rules import events as ev
from baohuang.rules.state import Table, UnseatingReason
from command_line.demo.words import called

_UNSEATED: Final = {
    UnseatingReason.NOT_READY: "he was not ready in time",
    UnseatingReason.WAITED_TOO_LONG: "no hand came of it for too long",
    UnseatingReason.IN_ANOTHER_HAND: "he plays a hand elsewhere",
    UnseatingReason.BANNED: "he is banned",
}


def tell_ruling(  # noqa: PLR0911 - one line an event
    event: ev.PlayerUnseated
    | ev.TableDissolved
    | ev.TableClosed
    | ev.PlayerBanned
    | ev.PlayerReinstated
    | ev.PlayerFined
    | ev.HandVoided
    | ev.FineReversed
    | ev.VoidReversed,
) -> str:
    """Return a ruling on players and tables in words."""
    match event:
        case ev.PlayerUnseated():
            return f"{event.player} is taken off seat {event.seat}: {_UNSEATED[event.reason]} ({event.rule})"
        case ev.TableDissolved():
            return f"the table is dissolved ({event.rule})"
        case ev.TableClosed():
            return f"the table is closed ({event.rule}){_noted(event.note)}"
        case ev.PlayerBanned():
            return f"{event.player} is banned ({event.rule}): {event.note}"
        case ev.PlayerReinstated():
            return f"{event.player} may play again ({event.rule}): {event.note}"
        case ev.PlayerFined():
            return f"{event.player} is fined {event.points} ({event.rule})"
        case ev.HandVoided():
            return f"the hand is void ({event.rule}){_noted(event.note)}"
        case ev.FineReversed():
            return f"{event.player} gets the {event.points} back that he was fined ({event.rule}): {event.note}"
        case ev.VoidReversed():
            points = " ".join(f"{points:+d}" if points else "0" for points in event.points)
            return f"hand {event.hand} counts after all, points by seat {points} ({event.rule}): {event.note}"
        case _:
            assert_never(event)


def tell_standing(
    event: ev.TrusteeshipEntered
    | ev.TrusteeshipMadePermanent
    | ev.TrusteeshipCancelled
    | ev.TurnExtended
    | ev.ConnectionLost
    | ev.ConnectionRestored,
    table: Table,
) -> str:
    """Return in words who plays a seat, by which clock, and how his line is."""
    match event:
        case ev.TrusteeshipEntered():
            return f"{called(table, event.seat)} is played by the trustee 托管 ({event.rule})"
        case ev.TrusteeshipMadePermanent():
            return f"{called(table, event.seat)} stays with the trustee to the end ({event.rule})"
        case ev.TrusteeshipCancelled():
            return f"{called(table, event.seat)} takes the seat back"
        case ev.TurnExtended():
            return f"the service was late, the turn begins anew ({event.rule})"
        case ev.ConnectionLost():
            return f"{called(table, event.seat)} has lost the connection"
        case ev.ConnectionRestored():
            return f"{called(table, event.seat)} is connected again"
        case _:
            assert_never(event)


def _noted(note: str) -> str:
    return f": {note}" if note else ""
