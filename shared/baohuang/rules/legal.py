"""Legal plays: checking one, listing all, and the cards that make one."""

from functools import lru_cache

from baohuang.rules.cards import BIG, RANKS, SMALL, STRENGTH, Card, holds
from baohuang.rules.plays import SIX, Shape, beats, holds_sixes, roasting_jokers, shape_of
from baohuang.rules.refusals import Refusal, RefusedError
from baohuang.rules.rulesets import Ruleset


def legal_shapes(
    hand: tuple[Card, ...],
    table: Shape | None,
    roast: bool,  # noqa: FBT001 - a ruleset's field, passed on as it is
    hold6: bool,  # noqa: FBT001 - likewise
) -> list[Shape]:
    """Return every shape the holder of `hand` may play on `table` (None: he leads), in no particular order.

    SET-1, BEAT-1, ROAST-1 and HOLD-1. An empty list means that he can only pass.
    """
    counts = _counts(hand)
    small, big = counts[SMALL], counts[BIG]
    shapes: list[Shape] = []
    if table is None:
        for rank in range(SMALL):
            if counts[rank]:
                shapes += _leads(rank, counts[rank], small, big)
        shapes += _jokers_alone(small, big)
    elif roast and (table.small or table.big):
        _add_roasts(shapes, counts, table)
    elif not table.big and big >= table.small:
        _add_answers(shapes, counts, table)
    if hold6 and counts[SIX]:
        shapes = [shape for shape in shapes if not holds_sixes(shape, len(hand))]
    return shapes


def check_play(ruleset: Ruleset, held: tuple[Card, ...], on: tuple[Card, ...], play: tuple[Card, ...]) -> None:
    """Raise RefusedError unless the holder of `held` may play `play` on the set `on` (empty: he leads).

    NOT_YOUR_CARDS, NOT_A_SET (SET-1), SIXES_HELD (HOLD-1), DOES_NOT_BEAT (BEAT-1, ROAST-1), in this order.
    """
    if not holds(held, play):
        raise RefusedError(Refusal.NOT_YOUR_CARDS, "SET-1", "you do not hold these cards")
    shape = shape_of(play)
    if shape is None:
        raise RefusedError(Refusal.NOT_A_SET, "SET-1", "a set is plain cards of one rank, jokers, or both")
    if ruleset.hold6 and holds_sixes(shape, len(held)):
        raise RefusedError(Refusal.SIXES_HELD, "HOLD-1", "sixes are played last and all at once")
    table = shape_of(on)
    if table is not None and not beats(shape, table, ruleset.roast):
        rule = "ROAST-1" if ruleset.roast and (table.small or table.big) else "BEAT-1"
        raise RefusedError(Refusal.DOES_NOT_BEAT, rule, f"{shape} does not beat {table}")


def cards_for(hand: tuple[Card, ...], shape: Shape) -> tuple[Card, ...]:
    """Return cards of the hand that make the shape, equals by TIE-1. Raises ValueError if it cannot be made."""
    wanted = {BIG: shape.big, SMALL: shape.small}
    if shape.plain:
        wanted[shape.rank] = shape.plain
    picked = []
    for card in hand:
        strength = STRENGTH[card]
        if wanted.get(strength):
            wanted[strength] -= 1
            picked.append(card)
    if len(picked) != shape.size:
        raise ValueError(f"the hand cannot make {shape}")
    return tuple(picked)


@lru_cache(maxsize=4096)
def _counts(hand: tuple[Card, ...]) -> tuple[int, ...]:
    """Return how many cards of each strength the hand holds. A hand is asked about again while its holder passes."""
    counts = [0] * (BIG + 1)
    for card in hand:
        counts[STRENGTH[card]] += 1
    return tuple(counts)


# What follows is remembered: pure functions of a few small numbers, asked for again at every decision. Four decks allow
# some 5,000 shapes; each is made once, and what is remembered beside them are tuples of references.


@lru_cache(maxsize=8192)
def _shape(rank: int, plain: int, small: int, big: int) -> Shape:
    return Shape(rank, plain, small, big)


@lru_cache(maxsize=8192)
def _leads(rank: int, count: int, small: int, big: int) -> tuple[Shape, ...]:
    return tuple(
        _shape(rank, plain, smalls, bigs)
        for plain in range(1, count + 1)
        for smalls in range(small + 1)
        for bigs in range(big + 1)
    )


@lru_cache(maxsize=64)
def _jokers_alone(small: int, big: int) -> tuple[Shape, ...]:
    return tuple(Shape(-1, 0, smalls, bigs) for smalls in range(small + 1) for bigs in range(big + 1) if smalls or bigs)


def _add_answers(shapes: list[Shape], counts: tuple[int, ...], table: Shape) -> None:
    """BEAT-1, once `table` is known to hold no BJ and the hand a BJ for each of its SJs."""
    small, big, jokers = counts[SMALL], counts[BIG], table.plain + table.small
    shapes += _with_jokers(-1, 0, jokers, table.small, small, big)
    for rank in range(table.rank + 1, SMALL):
        most = min(counts[rank], table.plain)
        if most:
            shapes += _with_jokers(rank, most, jokers, table.small, small, big)


@lru_cache(maxsize=65536)
def _with_jokers(  # noqa: PLR0917 - plain numbers make the cheapest key
    rank: int, most_plain: int, size: int, at_least_big: int, small: int, big: int
) -> tuple[Shape, ...]:
    """Return the shapes of `size` cards with up to `most_plain` plain ones, as many jokers big as needed and held."""
    plains = range(1, most_plain + 1) if most_plain else (0,)
    return tuple(
        _shape(rank, plain, size - plain - bigs, bigs)
        for plain in plains
        for bigs in range(max(at_least_big, size - plain - small), min(big, size - plain) + 1)
    )


def _add_roasts(shapes: list[Shape], counts: tuple[int, ...], table: Shape) -> None:
    small, big = counts[SMALL], counts[BIG]
    for plain in range(table.plain + 1):
        ranks = [rank for rank in range(table.rank + 1, len(RANKS)) if counts[rank] >= plain] if plain else [-1]
        for smalls, bigs in roasting_jokers(table.plain - plain, table.small, table.big):
            if smalls <= small and bigs <= big:
                shapes += [Shape(rank, plain, smalls, bigs) for rank in ranks]
