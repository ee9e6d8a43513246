"""What can be asked of a table: a command is who asks, when, and the action."""

from dataclasses import dataclass

from baohuang.rules.cards import Card
from baohuang.rules.clock import NEVER
from baohuang.rules.rulesets import Options
from baohuang.rules.state import Answer, Instant, PlayerId, TableId


@dataclass(frozen=True, slots=True)
class Enthrone:
    """Take the crown (登基)."""


@dataclass(frozen=True, slots=True)
class Yield:
    """Refuse the crown (让位)."""


@dataclass(frozen=True, slots=True)
class DeclareOpenSolo:
    """Take the crown, or call, by open solo (明独)."""


@dataclass(frozen=True, slots=True)
class AnswerSeize:
    """Seize the crown (抢独) or not: SEIZE or NONE."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class CallCard:
    """Call the card whose fourth copy makes the guard (CALL-1)."""

    card: Card


@dataclass(frozen=True, slots=True)
class Declare:
    """Answer in DECLARE: NONE, OPEN_GUARD, OPEN_SOLO, REVOLT or SURRENDER."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class AnswerKick:
    """Kick (踢) or not: KICK or NONE."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class ReturnTribute:
    """Return cards to the payer whose turn it is to get some back (还贡)."""

    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class Play:
    """Play a set (出牌)."""

    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class Pass:
    """Pass (过牌)."""


Move = Play | Pass | Enthrone | Yield | DeclareOpenSolo | AnswerSeize | CallCard | Declare | AnswerKick | ReturnTribute
"""What a seat does in a hand when it is asked."""


@dataclass(frozen=True, slots=True)
class ExpireTurn:
    """The seat's time has run out (TRUST-1)."""

    seat: int


@dataclass(frozen=True, slots=True)
class LostLine:
    """The player of a seat has had no stream since then."""

    seat: int
    since: Instant


@dataclass(frozen=True, slots=True)
class ExpireDeadline:
    """The deadline `due_at` has passed for all who still have to act (TRUST-1, TRUST-5). The clock's own command.

    It brings what is known of the players' lines at that moment, which the events of the hand may not tell (FINE-5).
    """

    due_at: Instant
    lost: tuple[LostLine, ...] = ()
    """The lines known to be lost."""
    watching: tuple[int, ...] = ()
    """The seats whose players are known to have a stream."""


@dataclass(frozen=True, slots=True)
class ReportConnection:
    """The player of a seat has lost his last stream, or has one again. The service's own command."""

    seat: int
    connected: bool
    since: Instant = NEVER
    """When that came to be so; empty: now."""


@dataclass(frozen=True, slots=True)
class RequestTrusteeship:
    """The player asks for the trustee (托管)."""


@dataclass(frozen=True, slots=True)
class CancelTrusteeship:
    """The player takes his seat back (TRUST-3)."""


@dataclass(frozen=True, slots=True)
class LeaveTable:
    """The player leaves during a hand; he may come back (FINE-1)."""


@dataclass(frozen=True, slots=True)
class ForfeitSeat:
    """The player gives his seat up and is fined (FINE-2)."""


@dataclass(frozen=True, slots=True)
class KickPlayer:
    """An operator takes the seat from its player, who is fined (FINE-2)."""

    seat: int


StandingMove = (
    ExpireTurn
    | ExpireDeadline
    | ReportConnection
    | RequestTrusteeship
    | CancelTrusteeship
    | LeaveTable
    | ForfeitSeat
    | KickPlayer
)
"""What changes who plays a seat (sections 6 and 7)."""


@dataclass(frozen=True, slots=True)
class OpenTable:
    """Open a table (TABLE-1); with `players`, five of them by seat, all sit down at once or there is no table."""

    table_id: TableId
    ruleset: str
    options: Options
    invitation_digest: str = ""
    players: tuple[PlayerId, ...] = ()


@dataclass(frozen=True, slots=True)
class SitDown:
    """Take an empty seat."""

    seat: int


@dataclass(frozen=True, slots=True)
class StandUp:
    """Leave one's seat between hands."""


@dataclass(frozen=True, slots=True)
class SetReady:
    """Get ready for the next hand, with entropy for its deal if one likes, or take it back (TABLE-1, FAIR-1)."""

    ready: bool
    entropy: str = ""


@dataclass(frozen=True, slots=True)
class VoidHand:
    """An operator ends the hand, which is not scored, and says why (RULE-1)."""

    note: str


@dataclass(frozen=True, slots=True)
class CloseTable:
    """An operator closes the table for good, and says why (RULE-1)."""

    note: str


@dataclass(frozen=True, slots=True)
class ReverseRuling:
    """An operator takes a ruling back, and says why (RULE-1)."""

    version: int
    """The ruling's."""
    note: str
    kind: str
    """The type of the event that the table's stream has at that version; empty if it has none."""


OperatorMove = VoidHand | CloseTable | ReverseRuling
"""What operators rule on tables (RULE-1)."""

Action = Move | StandingMove | OpenTable | SitDown | StandUp | SetReady | OperatorMove


@dataclass(frozen=True, slots=True)
class Command:
    """One player's action, with the clock reading and the fresh seed (32 bytes, in hex) that deciding it may need."""

    player: PlayerId
    action: Action
    at: Instant
    seed: str
    elsewhere: frozenset[PlayerId] = frozenset()
    """Who is known to play in a hand at another table (FINE-6)."""
    banned: frozenset[PlayerId] = frozenset()
    """Who is known to be banned (RULE-1)."""
