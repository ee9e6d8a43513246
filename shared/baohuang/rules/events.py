"""What happened: the events of a table's stream.

An event says its consequences (who acts next, who is out), so that `evolve` needs no rule and a client in any language
can follow the game without an engine. What not everybody may know stands in its `hidden` part and nowhere else; the
rest is public. Each class is the message of the same name in `baohuang/events/v1`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, get_args

from baohuang.rules.cards import Card
from baohuang.rules.clock import NEVER
from baohuang.rules.rulesets import Options
from baohuang.rules.settlement import Solo
from baohuang.rules.state import Answer, FineReason, Instant, Phase, PlayerId, Previous, TableId, TrusteeshipReason


@dataclass(frozen=True, slots=True)
class TableOpened:
    """A table was opened with a ruleset and options (TABLE-1)."""

    table_id: TableId
    ruleset: str
    options: Options
    opened_by: PlayerId


@dataclass(frozen=True, slots=True)
class PlayerSat:
    """A player took an empty seat."""

    seat: int
    player: PlayerId


@dataclass(frozen=True, slots=True)
class PlayerStood:
    """A player left his seat between hands."""

    seat: int
    player: PlayerId


@dataclass(frozen=True, slots=True)
class ReadinessSet:
    """A player got ready (开始), with entropy for the deal if he likes, or took it back."""

    seat: int
    player: PlayerId
    ready: bool
    entropy: str


@dataclass(frozen=True, slots=True)
class HiddenSeed:
    """The seed, in hex. Opened by HandFinished."""

    seed: str


@dataclass(frozen=True, slots=True)
class SeedCommitted:
    """The service bound itself to the seed of a deal to come (FAIR-1)."""

    hand: int
    deal: int
    commitment: str
    hidden: HiddenSeed | None


@dataclass(frozen=True, slots=True)
class HandStarted:
    """Five players were ready. Carries the table's state in full, so that a rebuild may begin here."""

    hand: int
    table_id: TableId
    ruleset: str
    options: Options
    opened_by: PlayerId
    players: tuple[PlayerId, ...]
    entropy: tuple[str, ...]
    dealer: int
    previous: Previous | None
    commitment: str
    hidden: HiddenSeed | None
    version: int = 0
    """This event's own version: a rebuild that begins here counts on from it."""


@dataclass(frozen=True, slots=True)
class SeatCards:
    """Cards of one seat."""

    seat: int
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class HiddenHands:
    """The hands a viewer may see: his own; all of them once the hand is over."""

    hands: tuple[SeatCards, ...]


@dataclass(frozen=True, slots=True)
class CardsDealt:
    """The deck was shuffled and dealt (DEAL-1)."""

    deal: int
    dealer: int
    sizes: tuple[int, ...]
    hidden: HiddenHands | None


@dataclass(frozen=True, slots=True)
class TributeCount:
    """How many cards a payer paid to a receiver."""

    payer: int
    receiver: int
    count: int


@dataclass(frozen=True, slots=True)
class PaidCards:
    """Which cards a payer paid to a receiver."""

    payer: int
    receiver: int
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class HiddenPayments:
    """The payments a viewer paid or received."""

    payments: tuple[PaidCards, ...]


@dataclass(frozen=True, slots=True)
class TributePaid:
    """All tribute was paid at once (TRIB-1). `turn` returns first; absent if nobody can return anything."""

    payments: tuple[TributeCount, ...]
    turn: int | None
    hidden: HiddenPayments | None
    due_at: Instant = NEVER
    """When whoever has to act now must have acted; empty when nobody has to."""


@dataclass(frozen=True, slots=True)
class HiddenCards:
    """Cards that only some may see."""

    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class TributeReturned:
    """A receiver returned cards (TRIB-2). `turn` returns next; absent after the last return."""

    seat: int
    payer: int
    count: int
    turn: int | None
    automatic: bool
    hidden: HiddenCards | None
    due_at: Instant = NEVER
    """When whoever has to act now must have acted; empty when nobody has to."""


@dataclass(frozen=True, slots=True)
class CrownOffered:
    """The holder of the crown card is asked first (CROWN-1)."""

    seat: int
    due_at: Instant = NEVER
    """When whoever has to act now must have acted; empty when nobody has to."""


@dataclass(frozen=True, slots=True)
class HiddenPasted:
    """The card pasted to the crown."""

    card: Card


@dataclass(frozen=True, slots=True)
class CrownYielded:
    """A seat refused the crown, with a card pasted to it or not; `turn` is asked next, absent if nobody is."""

    seat: int
    pasted: bool
    turn: int | None
    automatic: bool
    hidden: HiddenPasted | None
    due_at: Instant = NEVER
    """When whoever has to act now must have acted; empty when nobody has to."""


@dataclass(frozen=True, slots=True)
class RedealOrdered:
    """Nobody took the crown: the cards are dealt anew (CROWN-2, CROWN-3)."""

    rule: str


@dataclass(frozen=True, slots=True)
class HiddenCrowning:
    """What the pile brings the emperor (for him), and the guard (for the guard) or hidden solo (for the emperor)."""

    cards: tuple[Card, ...]
    guard: int | None
    solo: Solo | None


@dataclass(frozen=True, slots=True)
class EmperorEnthroned:
    """A seat took the crown (登基), forced or of his own will, with `pile` cards; by open solo or not."""

    seat: int
    rule: str
    forced: bool
    open_solo: bool
    pile: int
    roles_settled: bool
    automatic: bool
    hidden: HiddenCrowning | None


@dataclass(frozen=True, slots=True)
class PhaseBegan:
    """A phase of the hand began: `turn` has to act, or each seat `asked` has to answer."""

    phase: Phase
    turn: int | None
    asked: tuple[int, ...]
    due_at: Instant = NEVER
    """When whoever has to act now must have acted; empty when nobody has to."""


@dataclass(frozen=True, slots=True)
class HiddenAnswer:
    """The answer, until it is published for the seat that gave it alone."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class Answered:
    """A seat answered in a simultaneous phase. What, is published with all the others."""

    seat: int
    automatic: bool
    hidden: HiddenAnswer | None


@dataclass(frozen=True, slots=True)
class SeizePublished:
    """The answers to SEIZE: who wanted to seize, and who won (absent: nobody), now emperor by open solo (SEIZE-1)."""

    seizers: tuple[int, ...]
    winner: int | None
    roles_settled: bool


@dataclass(frozen=True, slots=True)
class HiddenCall:
    """The guard (for the guard) or the hidden solo (for the emperor) that a call made."""

    guard: int | None
    solo: Solo | None


@dataclass(frozen=True, slots=True)
class CardCalled:
    """The emperor called a card: its fourth copy is the guard's, or he holds all four (CALL-1)."""

    seat: int
    card: Card
    automatic: bool
    hidden: HiddenCall | None


@dataclass(frozen=True, slots=True)
class OpenSoloDeclared:
    """The emperor declared open solo instead of calling a card (CALL-1)."""

    seat: int


@dataclass(frozen=True, slots=True)
class DeclarationsPublished:
    """The answers to DECLARE and their effects (DECL-1..6).

    `guard` is the guard who is public now, absent if none is; `solo` the emperor's solo if it is public now.
    """

    revolters: tuple[int, ...]
    open_guard: bool
    revolt: bool
    surrendered: bool
    guard: int | None
    solo: Solo | None


@dataclass(frozen=True, slots=True)
class KicksPublished:
    """The answers to KICK (KICK-1)."""

    kickers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SeatWentOut:
    """A seat had no card when PLAY began (END-3)."""

    seat: int


@dataclass(frozen=True, slots=True)
class CardsPlayed:
    """A seat played a set (出牌). `turn` acts next, absent when the hand is over; `place` 1..5 if this was his last."""

    seat: int
    cards: tuple[Card, ...]
    left: int
    place: int
    turn: int | None
    automatic: bool
    due_at: Instant = NEVER
    """When whoever has to act now must have acted; empty when nobody has to."""


@dataclass(frozen=True, slots=True)
class Passed:
    """A seat passed (过牌). `turn` acts next; he leads if this ended the trick (PLAY-2, WIND-1)."""

    seat: int
    turn: int
    trick_over: bool
    automatic: bool
    due_at: Instant = NEVER
    """When whoever has to act now must have acted; empty when nobody has to."""


@dataclass(frozen=True, slots=True)
class RoleRevealed:
    """The guard, or the hidden solo of the emperor, became public by a play (ROLE-1)."""

    seat: int
    solo: bool


@dataclass(frozen=True, slots=True)
class TrusteeshipEntered:
    """Ruling: a seat is played by the trustee from now on (TRUST-1, FINE-2)."""

    seat: int
    player: PlayerId
    reason: TrusteeshipReason
    entry: int
    rule: str
    decided_at: Instant
    due_at: Instant = NEVER
    """The deadline that was missed; empty unless the reason is TIMEOUT."""
    connection_lost_at: Instant = NEVER
    """Since when his line was known to be lost; empty if it was not. Evidence only (FINE-5)."""
    rests_on: tuple[int, ...] = ()
    """The versions of the events it rests on, ascending (RULE-1)."""


@dataclass(frozen=True, slots=True)
class TrusteeshipMadePermanent:
    """Ruling: the trusteeship cannot be cancelled in this hand (TRUST-3, FINE-2)."""

    seat: int
    player: PlayerId
    rule: str
    decided_at: Instant
    rests_on: tuple[int, ...] = ()
    """The versions of the events it rests on, ascending (RULE-1)."""


@dataclass(frozen=True, slots=True)
class TrusteeshipCancelled:
    """The player took his seat back (TRUST-3)."""

    seat: int
    player: PlayerId


@dataclass(frozen=True, slots=True)
class TurnExtended:
    """Ruling: a deadline was decided too late to be enforced, by our own delay; the turn begins anew (TRUST-5)."""

    seats: tuple[int, ...]
    missed_due_at: Instant
    rule: str
    decided_at: Instant
    due_at: Instant
    rests_on: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ConnectionLost:
    """Evidence: the player of a seat has no open stream any more. At most one a seat and turn."""

    seat: int
    player: PlayerId
    lost_at: Instant


@dataclass(frozen=True, slots=True)
class ConnectionRestored:
    """Evidence: the player of a seat watches again. At most one a seat and turn."""

    seat: int
    player: PlayerId
    restored_at: Instant


@dataclass(frozen=True, slots=True)
class PlayerFined:
    """Ruling: a player lost points to the house (FINE-2, FINE-3). `points` is negative."""

    seat: int
    player: PlayerId
    points: int
    reason: FineReason
    roles_settled: bool
    rule: str
    decided_at: Instant
    rests_on: tuple[int, ...] = ()
    """The versions of the events it rests on, ascending (RULE-1)."""


@dataclass(frozen=True, slots=True)
class HandVoided:
    """Ruling: the hand is not scored (TRUST-4)."""

    rule: str
    trustees: tuple[int, ...]
    decided_at: Instant
    rests_on: tuple[int, ...] = ()
    """The versions of the events it rests on, ascending (RULE-1)."""


@dataclass(frozen=True, slots=True)
class HandFinished:
    """The hand is over: places, points, and everything that was hidden."""

    hand: int
    places: tuple[int, ...]
    points: tuple[int, ...]
    emperor: int
    guard: int | None
    solo: Solo | None
    surrendered: bool
    void: bool
    doublings: tuple[str, ...]
    hands: tuple[SeatCards, ...]
    """Cards never played, by seat, seats without any left out."""
    seeds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TableDissolved:
    """Ruling: the table is closed, since a seat was in trusteeship when the hand ended (TRUST-4)."""

    rule: str
    trustees: tuple[int, ...]
    decided_at: Instant
    rests_on: tuple[int, ...] = ()
    """The versions of the events it rests on, ascending (RULE-1)."""


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
)
"""Events that change the hand alone."""

TableEvent = (
    TableOpened | PlayerSat | PlayerStood | ReadinessSet | SeedCommitted | HandStarted | HandFinished | TableDissolved
)
"""Events that change the table around the hand."""

Event = HandEvent | TableEvent


EVENT_TYPES: Final[Mapping[str, type[Event]]] = MappingProxyType(
    {cls.__name__: cls for cls in (*get_args(HandEvent), *get_args(TableEvent))},
)
"""The classes of events by name, which is the `type` a stored event carries."""
