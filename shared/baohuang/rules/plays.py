"""Sets and what beats what (section 2): SET-1, BEAT-1, ROAST-1, HOLD-1."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from baohuang.rules.cards import BIG, COPIES, RANKS, SMALL, STRENGTH, Card

SIX: Final = RANKS.index("6")


class Shape(NamedTuple):
    """What a set is once suits and marks are dropped: they never decide a play (BEAT-1)."""

    rank: int
    """Strength of the plain cards, 0 for `3` .. 12 for `2`; -1 for jokers alone."""
    plain: int
    small: int
    big: int

    @property
    def size(self) -> int:
        """How many cards the set has."""
        return self.plain + self.small + self.big

    def __str__(self) -> str:
        """Write the set as big jokers, small jokers, plain cards: `BJ SJ 7 7`."""
        return " ".join(["BJ"] * self.big + ["SJ"] * self.small + [RANKS[self.rank]] * self.plain)


def shape_of(cards: Iterable[Card]) -> Shape | None:
    """Return the shape of a set, None if the cards are no set (SET-1)."""
    rank, plain, small, big = -1, 0, 0, 0
    for card in cards:
        strength = STRENGTH[card]
        if strength == BIG:
            big += 1
        elif strength == SMALL:
            small += 1
        elif plain and strength != rank:
            return None
        else:
            rank, plain = strength, plain + 1
    return Shape(rank, plain, small, big) if plain or small or big else None


def beats(play: Shape, table: Shape, roast: bool) -> bool:  # noqa: FBT001 - a ruleset's field, passed on as it is
    """Tell whether `play` beats `table` under BEAT-1, or under ROAST-1 where `roast` is on."""
    if roast and (table.small or table.big):
        return _roasts(play, table)
    return _beats_card_by_card(play, table)


def _beats_card_by_card(play: Shape, table: Shape) -> bool:
    """BEAT-1: as many cards, and sorted, each strictly higher than its counterpart.

    Nothing is above a `BJ`; each `SJ` must meet a `BJ`; the rest of the table's cards are plain and of one rank.
    """
    if play.size != table.size or table.big or play.big < table.small:
        return False
    return not (play.plain and table.plain) or play.rank > table.rank


def _roasts(play: Shape, table: Shape) -> bool:
    """ROAST-1: the play falls into exactly one group for each card on the table, each group beating its card."""
    if play.plain > table.plain or (play.plain and play.rank <= table.rank):
        return False
    return (play.small, play.big) in roasting_jokers(table.plain - play.plain, table.small, table.big)


@lru_cache(maxsize=4096)
def roasting_jokers(plain: int, small: int, big: int) -> frozenset[tuple[int, int]]:
    """Return the (small, big) joker counts that beat `plain` plain cards, `small` SJ and `big` BJ, group by group.

    ROAST-1's groups: `BJ BJ` or `SJ SJ SJ` over a `BJ`; `BJ` or `SJ SJ` over an `SJ`; any joker over a plain card.
    """
    return frozenset(
        (3 * (big - pairs) + 2 * (small - singles) + (plain - highs), 2 * pairs + singles + highs)
        for pairs in range(big + 1)
        for singles in range(small + 1)
        for highs in range(plain + 1)
        if 2 * pairs + singles + highs <= COPIES
    )


def holds_sixes(play: Shape, cards_held: int) -> bool:
    """HOLD-1: tell whether the set breaks the holding of sixes, by a player who holds `cards_held` cards."""
    if play.rank != SIX or not play.plain:
        return False
    return bool(play.small or play.big) or play.plain != cards_held
