"""The six rulesets and their options, as data (section 1). The engine never asks for a ruleset's name."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import Enum
from functools import lru_cache
from types import MappingProxyType
from typing import Final, NewType

RulesetId = NewType("RulesetId", str)


class Deck(Enum):
    """Which cards are dealt (DECK-1, DECK-2)."""

    FULL = "DECK_FULL"
    """Four decks, 216 cards."""
    WEIHAI = "DECK_WEIHAI"
    """165 cards: no 3, 4, 5, and three `6d` fewer."""
    SHORT = "DECK_SHORT"
    """168 cards: no 3, 4, 5."""


class Guarding(Enum):
    """How the guard is found."""

    SWORD_CARD = "GUARDING_SWORD_CARD"
    CALLED_CARD = "GUARDING_CALLED_CARD"


class Direction(Enum):
    """How a client draws the order of play; nothing in the engine depends on it."""

    CLOCKWISE = "DIRECTION_CLOCKWISE"
    COUNTER_CLOCKWISE = "DIRECTION_COUNTER_CLOCKWISE"


class Yielding(Enum):
    """What happens as seat after seat refuses the crown."""

    HOLDER_MUST = "YIELDING_HOLDER_MUST"
    """One lap, then its first holder is emperor (CROWN-4)."""
    FORCED_SWEEP = "YIELDING_FORCED_SWEEP"
    """One lap, then a sweep that forces the first seat with an exact triple; else redeal (CROWN-3)."""
    PASTE = "YIELDING_PASTE"
    """Two laps in which each later refusal adds a card, then redeal (CROWN-2)."""


class Ending(Enum):
    """When a hand without a solo ends (END-H, END-L)."""

    FOUR_OUT = "ENDING_FOUR_OUT"
    SIDE_OUT = "ENDING_SIDE_OUT"


class PointsTable(Enum):
    """Which table of points settles the hand (PTS-H, PTS-L)."""

    HOMY = "POINTS_TABLE_HOMY"
    OURGAME = "POINTS_TABLE_OURGAME"


ALL_OPPONENTS: Final = 5
"""A revolt threshold that means every opponent of the crown (DECL-3): no hand has so many."""


@dataclass(frozen=True, slots=True)
class Ruleset:
    """One way to play. A choice is changed by changing a field here, never in the engine."""

    id: RulesetId
    title: str
    deck: Deck
    guarding: Guarding
    direction: Direction
    yielding: Yielding
    ending: Ending
    points: PointsTable
    seize: bool = False
    open_guard: bool = True
    revolt_threshold: int = 0
    """How many rebels make a revolt succeed; ALL_OPPONENTS, or 0 where nobody can revolt (DECL-3)."""
    surrender: bool = False
    kick: bool = False
    tribute: bool = False
    sweep_doubling: bool = False
    emperor_declares: bool = True
    """Whether the emperor is asked in DECLARE (DECL-0)."""
    roast: bool = False
    hold6: bool = False
    offers: tuple[str, ...] = ()
    """The rule options a table's creator may set, beside those of every ruleset."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a table's creator may set. None leaves a rule as the ruleset has it."""

    short_deck: bool | None = None
    seize: bool | None = None
    roast: bool | None = None
    hold6: bool | None = None
    turn_seconds: int = 30
    declare_seconds: int = 20
    grace_seconds: int = 3
    spectator_delay: int = 0
    """Plays by which spectators lag."""
    bots: bool = False
    """Whether bots may be seated to fill the table."""


RULE_OPTIONS: Final = ("short_deck", "seize", "roast", "hold6")
BOUNDS: Final[Mapping[str, tuple[int, int]]] = MappingProxyType(
    {"turn_seconds": (5, 300), "declare_seconds": (5, 300), "grace_seconds": (1, 30), "spectator_delay": (0, 100)},
)
"""Lowest and highest value of each numeric option; seconds, but for `spectator_delay`, which counts plays."""


class UnknownRulesetError(ValueError):
    """There is no ruleset of that id."""


class OptionError(ValueError):
    """An option is unknown, not offered by the ruleset, out of bounds, or set without one it needs."""

    def __init__(self, option: str, why: str) -> None:
        super().__init__(f"{option}: {why}")
        self.option = option


_HOMY: Final = Ruleset(
    id=RulesetId("homy-standard"),
    title="红心 普通玩法",
    deck=Deck.FULL,
    guarding=Guarding.SWORD_CARD,
    direction=Direction.COUNTER_CLOCKWISE,
    yielding=Yielding.HOLDER_MUST,
    ending=Ending.FOUR_OUT,
    points=PointsTable.HOMY,
    revolt_threshold=ALL_OPPONENTS,
    surrender=True,
    kick=True,
    sweep_doubling=True,
)
_HOMY_CLASSIC: Final = replace(
    _HOMY,
    id=RulesetId("homy-classic"),
    title="红心 经典玩法",
    guarding=Guarding.CALLED_CARD,
    yielding=Yielding.FORCED_SWEEP,
    seize=True,
    revolt_threshold=0,
)
_OURGAME: Final = Ruleset(
    id=RulesetId("ourgame-simple"),
    title="联众 简明玩法",
    deck=Deck.FULL,
    guarding=Guarding.SWORD_CARD,
    direction=Direction.CLOCKWISE,
    yielding=Yielding.PASTE,
    ending=Ending.SIDE_OUT,
    points=PointsTable.OURGAME,
    revolt_threshold=2,
    offers=RULE_OPTIONS,
)

RULESETS: Final[Mapping[RulesetId, Ruleset]] = MappingProxyType(
    {
        ruleset.id: ruleset
        for ruleset in (
            _HOMY,
            replace(_HOMY, id=RulesetId("homy-weihai"), title="红心 威海玩法", deck=Deck.WEIHAI, seize=True),
            _HOMY_CLASSIC,
            replace(_HOMY_CLASSIC, id=RulesetId("homy-qingdao"), title="红心 青岛玩法", tribute=True),
            _OURGAME,
            replace(
                _OURGAME,
                id=RulesetId("ourgame-classic"),
                title="联众 经典玩法",
                guarding=Guarding.CALLED_CARD,
                yielding=Yielding.FORCED_SWEEP,
                seize=True,
                revolt_threshold=0,
                emperor_declares=False,
            ),
        )
    },
)


def ruleset_named(name: str) -> Ruleset:
    """Return the ruleset of that id, without options; raise UnknownRulesetError naming it."""
    ruleset = RULESETS.get(RulesetId(name))
    if ruleset is None:
        raise UnknownRulesetError(f"{name!r} is not one of {', '.join(RULESETS)}")
    return ruleset


def parse_options(given: Mapping[str, object]) -> Options:
    """Return options from names and values as JSON has them; raise OptionError naming the option."""
    known = {field.name: type(field.default) for field in fields(Options)}
    for name, value in given.items():
        if name not in known:
            raise OptionError(name, "there is no such option")
        wanted = int if name in BOUNDS else bool
        if type(value) is not wanted:
            raise OptionError(name, f"must be {'a whole number' if wanted is int else 'true or false'}")
    return Options(**given)  # type: ignore[arg-type] # names and types were checked above


@lru_cache(maxsize=1_000)  # many tables have few rulesets
def with_options(ruleset: Ruleset, options: Options) -> Ruleset:
    """Return the ruleset as the options have it; raise OptionError for one it does not offer or out of bounds."""
    for name in RULE_OPTIONS:
        if getattr(options, name) is not None and name not in ruleset.offers:
            raise OptionError(name, f"{ruleset.id} does not offer it")
    for name, (low, high) in BOUNDS.items():
        if not low <= getattr(options, name) <= high:
            raise OptionError(name, f"must be from {low} to {high}")
    if options.hold6 and not options.short_deck:
        raise OptionError("hold6", "needs short_deck: it presumes that 6 is the lowest rank")
    rules = {name: getattr(options, name) for name in ("seize", "roast", "hold6") if getattr(options, name) is not None}
    return replace(ruleset, deck=Deck.SHORT if options.short_deck else ruleset.deck, **rules)
