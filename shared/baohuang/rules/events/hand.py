"""A hand from its commitment and start to its end (FAIR-1)."""

from dataclasses import dataclass

from baohuang.rules.clock import NEVER
from baohuang.rules.events.deal import SeatCards
from baohuang.rules.rulesets import Options
from baohuang.rules.settlement import Solo
from baohuang.rules.state import Instant, PlayerId, Previous, TableId


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
    invitation_digest: str = ""


@dataclass(frozen=True, slots=True)
class HandFinished:
    """The hand is over: places, points, and everything that was hidden."""

    hand: int
    places: tuple[int, ...]
    points: tuple[int, ...]
    emperor: int | None
    """Absent if the hand was void before there was one."""
    guard: int | None
    solo: Solo | None
    surrendered: bool
    void: bool
    doublings: tuple[str, ...]
    hands: tuple[SeatCards, ...]
    """Cards never played, by seat, seats without any left out."""
    seeds: tuple[str, ...]
    due_at: Instant = NEVER
    """When each of the five is unseated unless he is ready; empty if the table is dissolved."""
    players: tuple[PlayerId, ...] = ()
    """By seat. With this and what follows, the points can be computed anew from this event alone."""
    ruleset: str = ""
    options: Options | None = None
    open_guard: bool = False
    revolt: bool = False
    kicked: bool = False
