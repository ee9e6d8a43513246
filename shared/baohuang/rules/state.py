"""The state of a table and of its hand: frozen data, rebuilt by `evolve`, masked for a viewer by `redact`.

The phases of a hand (section 3); a phase the ruleset lacks is skipped:

    (deal) → TRIBUTE → CROWN → SEIZE → CALL → DECLARE → KICK → PLAY → SETTLED
                         │                                 ↑ an open solo skips CALL and DECLARE
                         └→ REDEAL → (deal)
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NewType

from baohuang.rules.cards import Card
from baohuang.rules.deal import SEATS
from baohuang.rules.rulesets import Options, Ruleset
from baohuang.rules.settlement import Outcome, Points, Solo

PlayerId = NewType("PlayerId", str)
TableId = NewType("TableId", str)
Instant = NewType("Instant", str)
"""A reading of the clock: RFC 3339 in UTC with microseconds, e.g. `2026-01-31T08:05:09.000123Z`."""

NOBODY: Final = PlayerId("")
NO_CARDS: Final[tuple[Card, ...]] = ()
ALL_SEATS: Final = tuple(range(SEATS))
_UPSTREAM: Final = tuple(tuple((seat - step) % SEATS for step in ALL_SEATS) for seat in ALL_SEATS)
_DOWNSTREAM: Final = tuple(tuple((seat + step) % SEATS for step in ALL_SEATS) for seat in ALL_SEATS)


def next_seat(seat: int) -> int:
    """Return the seat that plays after `seat` (下家)."""
    return (seat + 1) % SEATS


def previous_seat(seat: int) -> int:
    """Return the seat that plays before `seat` (上家)."""
    return (seat - 1) % SEATS


def upstream_of(seat: int) -> tuple[int, ...]:
    """Return all five seats from `seat` on against the order of play."""
    return _UPSTREAM[seat]


def downstream_of(seat: int) -> tuple[int, ...]:
    """Return all five seats from `seat` on in the order of play."""
    return _DOWNSTREAM[seat]


class Phase(Enum):
    """Where a hand stands (section 3)."""

    TRIBUTE = "PHASE_TRIBUTE"
    CROWN = "PHASE_CROWN"
    SEIZE = "PHASE_SEIZE"
    CALL = "PHASE_CALL"
    DECLARE = "PHASE_DECLARE"
    KICK = "PHASE_KICK"
    PLAY = "PHASE_PLAY"
    SETTLED = "PHASE_SETTLED"
    REDEAL = "PHASE_REDEAL"


SIMULTANEOUS: Final = (Phase.SEIZE, Phase.DECLARE, Phase.KICK)
"""The phases in which every seat asked answers once, in secret."""


class Answer(Enum):
    """An answer in a simultaneous phase."""

    HIDDEN = "ANSWER_HIDDEN"
    """Given, but not for this viewer to know yet."""
    NONE = "ANSWER_NONE"
    """Nothing to say: no seize, no declaration, no kick."""
    SEIZE = "ANSWER_SEIZE"
    OPEN_GUARD = "ANSWER_OPEN_GUARD"
    OPEN_SOLO = "ANSWER_OPEN_SOLO"
    REVOLT = "ANSWER_REVOLT"
    SURRENDER = "ANSWER_SURRENDER"
    KICK = "ANSWER_KICK"


class TrusteeshipReason(Enum):
    """Why a seat entered trusteeship (TRUST-1, FINE-2)."""

    TIMEOUT = "TRUSTEESHIP_REASON_TIMEOUT"
    REQUESTED = "TRUSTEESHIP_REASON_REQUESTED"
    LEFT = "TRUSTEESHIP_REASON_LEFT"
    FORFEITED = "TRUSTEESHIP_REASON_FORFEITED"
    KICKED = "TRUSTEESHIP_REASON_KICKED"


class FineReason(Enum):
    """Why a player was fined (FINE-2)."""

    FORFEITED = "FINE_REASON_FORFEITED"
    KICKED = "FINE_REASON_KICKED"


class UnseatingReason(Enum):
    """Why a player lost his seat between hands (TABLE-1, FINE-6)."""

    NOT_READY = "UNSEATING_REASON_NOT_READY"
    WAITED_TOO_LONG = "UNSEATING_REASON_WAITED_TOO_LONG"
    """He was ready, and no hand came of it."""
    IN_ANOTHER_HAND = "UNSEATING_REASON_IN_ANOTHER_HAND"
    BANNED = "UNSEATING_REASON_BANNED"


class ClosingReason(Enum):
    """Why a table was closed."""

    ABANDONED = "CLOSING_REASON_ABANDONED"
    BY_OPERATOR = "CLOSING_REASON_BY_OPERATOR"


class TableStatus(Enum):
    """Whether a table can be played at."""

    OPEN = "TABLE_STATUS_OPEN"
    DISSOLVED = "TABLE_STATUS_DISSOLVED"
    """Closed by TRUST-4, for ever."""
    CLOSED = "TABLE_STATUS_CLOSED"
    """Abandoned, or closed by an operator, for ever."""


@dataclass(frozen=True, slots=True)
class Pasted:
    """A card added to the crown by a seat that refused it (CROWN-2)."""

    seat: int
    card: Card


@dataclass(frozen=True, slots=True)
class Offer:
    """The crown on its way upstream. The crown and what is pasted to it are in nobody's hand."""

    origin: int
    """The seat that was dealt the crown card."""
    refusals: int = 0
    pile: tuple[Pasted, ...] = ()


@dataclass(frozen=True, slots=True)
class Payment:
    """Cards paid as tribute, and how many of the returns they call for are still due (TRIB-1)."""

    payer: int
    receiver: int
    cards: tuple[Card, ...]
    returned: bool = False


@dataclass(frozen=True, slots=True)
class Roles:
    """Who is what, the truth so far whoever knows it, and what everybody knows of it (ROLE-1)."""

    emperor: int | None = None
    guard: int | None = None
    solo: Solo | None = None
    public_guard: int | None = None
    public_solo: bool = False
    called: Card | None = None
    settled: bool = False
    """Whether emperor and guard are both determined (FINE-3)."""


@dataclass(frozen=True, slots=True)
class Stakes:
    """What was published in DECLARE and KICK, and what of it doubles the points."""

    open_guard: bool = False
    revolt: bool = False
    kicked: bool = False
    surrendered: bool = False
    revolters: tuple[int, ...] = ()
    kickers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Trick:
    """The set to beat, empty when the seat to act leads; who played it; how many passed on it since."""

    cards: tuple[Card, ...] = NO_CARDS
    player: int | None = None
    passes: int = 0


@dataclass(frozen=True, slots=True)
class Trusteeship:
    """A seat's standing under section 6 in this hand."""

    active: bool = False
    entries: int = 0
    permanent: bool = False
    version: int = 0
    """The version of the event by which it was last entered."""


@dataclass(frozen=True, slots=True)
class Connection:
    """What is known of a player's line in this hand: evidence, never a reason for anything (FINE-5)."""

    lost_at: Instant = Instant("")
    """Since when he has no open stream; empty while he has one, or no loss was recorded."""
    version: int = 0
    """The version of the event that says so; 0 if there is none."""
    lost_in: int = 0
    """The turn, by its version, in which a loss was last recorded."""
    restored_in: int = 0
    """The turn, by its version, in which a return was last recorded."""


@dataclass(frozen=True, slots=True)
class Reversible:
    """A ruling of the hand that an operator may take back (RULE-1)."""

    version: int
    seat: int | None
    """The seat that it fined; None if it is that the hand is void."""
    reversed_by: int = 0
    """The version of the event that took it back; 0 if none did."""


@dataclass(frozen=True, slots=True)
class Result:
    """How the hand ended. `places` are seats in order, empty after a surrender."""

    places: tuple[int, ...]
    points: Points
    void: bool
    seeds: tuple[str, ...]
    """The seeds of its deals, in hex, now open (FAIR-1)."""


@dataclass(frozen=True, slots=True)
class Previous:
    """The last hand's result at this table, as tribute and deal need it (TRIB-1, DEAL-1). Seats are of that hand."""

    players: tuple[PlayerId, ...]
    emperor: int
    guard: int | None
    solo: Solo | None
    places: tuple[int, ...]
    points: Points
    pays_tribute: bool
    """False after a surrender or a void hand."""


@dataclass(frozen=True, slots=True)
class Hand:
    """One hand (一局), from its deal to its settlement."""

    number: int
    players: tuple[PlayerId, ...]
    dealer: int
    deal: int = 0
    """Which deal of this hand: 1, and one more for each redeal."""
    phase: Phase = Phase.REDEAL
    turn: int | None = None
    """The seat to act; None in a simultaneous phase and when nobody has to."""
    due_at: Instant = Instant("")
    """When whoever has to act must have acted; empty when nobody has to."""
    turn_version: int = 0
    """The version of the event that opened this turn, or extended it: what a ruling about it rests on."""
    asked: tuple[int, ...] = ()
    """The seats asked in a simultaneous phase."""
    answers: tuple[Answer | None, ...] = (None,) * SEATS
    hands: tuple[tuple[Card, ...], ...] = (NO_CARDS,) * SEATS
    offer: Offer | None = None
    tribute: tuple[Payment, ...] = ()
    roles: Roles = field(default_factory=Roles)
    stakes: Stakes = field(default_factory=Stakes)
    trick: Trick = field(default_factory=Trick)
    out: tuple[int, ...] = ()
    """Seats in order of going out."""
    trusteeships: tuple[Trusteeship, ...] = (Trusteeship(),) * SEATS
    connections: tuple[Connection, ...] = (Connection(),) * SEATS
    fines: tuple[int, ...] = (0,) * SEATS
    """Points fined so far, by seat: negative once the seat was forfeited or its player kicked, else zero (FINE-2).

    A fine that is taken back stays here: the seat stays forfeited.
    """
    reversible: tuple[Reversible, ...] = ()
    """Its fines and, if it was played to its end, its being void, in order. No hand follows on one that has any."""
    result: Result | None = None


@dataclass(frozen=True, slots=True)
class Commitment:
    """What the service has bound itself to before a deal (FAIR-1)."""

    hand: int
    deal: int
    commitment: str
    """SHA-256 of the seed, in hex."""
    seed: str
    """The seed, in hex; empty in a masked state."""


@dataclass(frozen=True, slots=True)
class SeatAtTable:
    """One of the five seats: its player (NOBODY if empty), whether he is ready, his entropy for the next deal."""

    player: PlayerId = NOBODY
    ready: bool = False
    entropy: str = ""
    due_at: Instant = Instant("")
    """When he is unseated unless a hand begins or his readiness changes; empty during a hand (TABLE-1)."""
    due_version: int = 0
    """The version of the event that set this deadline: what an unseating rests on."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table between and during its hands."""

    table_id: TableId
    ruleset: Ruleset
    """The ruleset with the table's options already applied."""
    options: Options
    opened_by: PlayerId
    status: TableStatus = TableStatus.OPEN
    version: int = 0
    """How many events the table has: the version of the last one."""
    seats: tuple[SeatAtTable, ...] = (SeatAtTable(),) * SEATS
    hands_played: int = 0
    commitment: Commitment | None = None
    seeds: tuple[str, ...] = ()
    """Seeds of the current hand's deals, in hex; masked until it is over."""
    previous: Previous | None = None
    hand: Hand | None = None
    closes_at: Instant = Instant("")
    """When it is closed as abandoned unless somebody sits down; empty while anybody sits (TABLE-1)."""
    closes_version: int = 0
    """The version of the event that set this deadline: what the closing rests on."""
    invitation_digest: str = ""
    """What is kept of a private table's invitation code, in hex; empty for a table that is open to all."""


def seat_of(table: Table, player: PlayerId) -> int | None:
    """Return the seat the player sits in, None if he is not seated."""
    for seat, taken in enumerate(table.seats):
        if taken.player == player != NOBODY:
            return seat
    return None


def in_progress(table: Table) -> bool:
    """Tell whether a hand is being played."""
    return table.hand is not None and table.hand.result is None


def outcome_of(hand: Hand, places: tuple[int, ...]) -> Outcome:
    """Return what settlement needs to know of the hand. Raises ValueError before there is an emperor."""
    if hand.roles.emperor is None:
        raise ValueError("a hand without an emperor cannot be settled")
    return Outcome(
        emperor=hand.roles.emperor,
        guard=hand.roles.guard,
        solo=hand.roles.solo,
        places=places,
        open_guard=hand.stakes.open_guard,
        revolt=hand.stakes.revolt,
        kicked=hand.stakes.kicked,
        surrendered=hand.stakes.surrendered,
    )
