"""What happened: the events of a table's stream.

An event says its consequences (who acts next, who is out), so that `evolve` needs no rule and a client in any language
can follow the game without an engine. What not everybody may know stands in its `hidden` part and nowhere else; the
rest is public. Each class is the message of the same name in `baohuang/events/v1`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, get_args

from baohuang.rules.events.bans import PlayerBanned, PlayerReinstated
from baohuang.rules.events.crown import (
    CrownOffered,
    CrownYielded,
    EmperorEnthroned,
    HiddenCrowning,
    HiddenPasted,
    RedealOrdered,
)
from baohuang.rules.events.deal import (
    CardsDealt,
    HiddenCards,
    HiddenHands,
    HiddenPayments,
    PaidCards,
    SeatCards,
    TributeCount,
    TributePaid,
    TributeReturned,
)
from baohuang.rules.events.declare import (
    Answered,
    CardCalled,
    DeclarationsPublished,
    HiddenAnswer,
    HiddenCall,
    KicksPublished,
    OpenSoloDeclared,
    PhaseBegan,
    SeizePublished,
)
from baohuang.rules.events.hand import HandFinished, HandStarted, HiddenSeed, SeedCommitted
from baohuang.rules.events.play import CardsPlayed, Passed, RoleRevealed, SeatWentOut
from baohuang.rules.events.rulings import (
    ConnectionLost,
    ConnectionRestored,
    FineReversed,
    HandVoided,
    PlayerFined,
    TrusteeshipCancelled,
    TrusteeshipEntered,
    TrusteeshipMadePermanent,
    TurnExtended,
    VoidReversed,
)
from baohuang.rules.events.seats import (
    PlayerSat,
    PlayerStood,
    PlayerUnseated,
    ReadinessSet,
    TableClosed,
    TableDissolved,
    TableOpened,
)

__all__ = [
    "EVENT_TYPES",
    "Answered",
    "CardCalled",
    "CardsDealt",
    "CardsPlayed",
    "ConnectionLost",
    "ConnectionRestored",
    "CrownOffered",
    "CrownYielded",
    "DeclarationsPublished",
    "EmperorEnthroned",
    "Event",
    "FineReversed",
    "HandEvent",
    "HandFinished",
    "HandStarted",
    "HandVoided",
    "HiddenAnswer",
    "HiddenCall",
    "HiddenCards",
    "HiddenCrowning",
    "HiddenHands",
    "HiddenPasted",
    "HiddenPayments",
    "HiddenSeed",
    "KicksPublished",
    "OpenSoloDeclared",
    "PaidCards",
    "Passed",
    "PhaseBegan",
    "PlayerBanned",
    "PlayerEvent",
    "PlayerFined",
    "PlayerReinstated",
    "PlayerSat",
    "PlayerStood",
    "PlayerUnseated",
    "ReadinessSet",
    "RedealOrdered",
    "RoleRevealed",
    "Ruling",
    "SeatCards",
    "SeatWentOut",
    "SeedCommitted",
    "SeizePublished",
    "TableClosed",
    "TableDissolved",
    "TableEvent",
    "TableOpened",
    "TributeCount",
    "TributePaid",
    "TributeReturned",
    "TrusteeshipCancelled",
    "TrusteeshipEntered",
    "TrusteeshipMadePermanent",
    "TurnExtended",
    "VoidReversed",
    "is_ruling",
    "names_ruling",
]

HandEvent = (
    CardsPlayed
    | Passed
    | CardsDealt
    | TributePaid
    | TributeReturned
    | CrownOffered
    | CrownYielded
    | RedealOrdered
    | EmperorEnthroned
    | PhaseBegan
    | Answered
    | SeizePublished
    | CardCalled
    | OpenSoloDeclared
    | DeclarationsPublished
    | KicksPublished
    | SeatWentOut
    | RoleRevealed
    | TrusteeshipEntered
    | TrusteeshipMadePermanent
    | TrusteeshipCancelled
    | PlayerFined
    | TurnExtended
    | ConnectionLost
    | ConnectionRestored
    | HandVoided
    | FineReversed
    | VoidReversed
)
"""Events that change the hand alone."""

TableEvent = (
    TableOpened
    | PlayerSat
    | PlayerStood
    | PlayerUnseated
    | ReadinessSet
    | SeedCommitted
    | HandStarted
    | HandFinished
    | TableDissolved
    | TableClosed
)
"""Events that change the table around the hand."""

PlayerEvent = PlayerBanned | PlayerReinstated
"""Events of a player's own stream, never of a table's."""

Event = HandEvent | TableEvent | PlayerEvent

Ruling = (
    TrusteeshipEntered
    | TrusteeshipMadePermanent
    | PlayerFined
    | HandVoided
    | TurnExtended
    | PlayerUnseated
    | TableClosed
    | TableDissolved
    | PlayerBanned
    | PlayerReinstated
    | FineReversed
    | VoidReversed
)
"""Events that are rulings: each tells its clause and when it was decided (RULE-1)."""


EVENT_TYPES: Final[Mapping[str, type[Event]]] = MappingProxyType(
    {cls.__name__: cls for cls in (*get_args(HandEvent), *get_args(TableEvent), *get_args(PlayerEvent))},
)
"""The classes of events by name, which is the `type` a stored event carries."""
_RULINGS: Final = frozenset(cls.__name__ for cls in get_args(Ruling))


def is_ruling(event: Event | None) -> bool:
    """Tell whether there is an event and it is a ruling (RULE-1)."""
    return isinstance(event, get_args(Ruling))


def names_ruling(kind: str) -> bool:
    """Tell whether events of the type named so are rulings (RULE-1)."""
    return kind in _RULINGS
