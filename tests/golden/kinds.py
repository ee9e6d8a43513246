"""What can happen at a table, in kinds: what the golden histories have to hold at least once."""

from collections.abc import Iterable
from typing import Final

from baohuang.rules import events as ev

RULINGS: Final = frozenset(
    {
        "TrusteeshipEntered TIMEOUT", "TrusteeshipEntered REQUESTED", "TrusteeshipEntered LEFT",
        "TrusteeshipEntered FORFEITED", "TrusteeshipEntered KICKED", "TrusteeshipMadePermanent TRUST-3",
        "TrusteeshipMadePermanent FINE-2", "TrusteeshipCancelled", "PlayerFined FORFEITED -40",
        "PlayerFined KICKED -40", "PlayerFined FORFEITED -20", "HandVoided RULE-1", "HandVoided TRUST-4",
        "TurnExtended", "TableDissolved", "TableClosed ABANDONED", "TableClosed BY_OPERATOR",
        "PlayerUnseated NOT_READY", "PlayerUnseated IN_ANOTHER_HAND", "PlayerUnseated BANNED", "FineReversed",
        "VoidReversed",
    }
)  # fmt: skip
"""Rulings and what undoes them, by reason or clause."""
COURSES: Final = frozenset(
    {
        "ConnectionLost", "ConnectionRestored", "RedealOrdered", "TributePaid", "TributeReturned",
        "CrownYielded pasted", "CardCalled", "OpenSoloDeclared", "RoleRevealed", "HandFinished SOLO_OPEN",
        "HandFinished SOLO_HIDDEN", "HandFinished surrendered", "SeizePublished won", "KicksPublished kicked",
        "DeclarationsPublished revolt", "DeclarationsPublished open guard",
    }
)  # fmt: skip
"""Courses that a hand can take."""


def kinds_of(events: Iterable[ev.Event]) -> set[str]:
    """Return the kinds of what happened."""
    return {_kind(event) for event in events}


def _kind(event: ev.Event) -> str:
    return " ".join(filter(None, (type(event).__name__, _detail(event))))


def _detail(event: ev.Event) -> str:  # noqa: PLR0911 - one line an event
    match event:
        case ev.PlayerFined():
            return f"{event.reason.name} {event.points}"
        case ev.TrusteeshipEntered() | ev.PlayerUnseated() | ev.TableClosed():
            return event.reason.name
        case ev.TrusteeshipMadePermanent() | ev.HandVoided():
            return event.rule
        case ev.CrownYielded():
            return "pasted" if event.pasted else ""
        case ev.HandFinished():
            return "surrendered" if event.surrendered else event.solo.value if event.solo and not event.void else ""
        case ev.SeizePublished():
            return "" if event.winner is None else "won"
        case ev.KicksPublished():
            return "kicked" if event.kickers else ""
        case ev.DeclarationsPublished():
            return "revolt" if event.revolt else "open guard" if event.open_guard else ""
        case _:
            return ""
