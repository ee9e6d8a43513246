"""Sets and what beats what, told a second time from the words of section 2, slowly and without a formula."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product

from baohuang.rules.cards import BIG, SMALL, STRENGTH, Card
from baohuang.rules.plays import Shape

_SIX = STRENGTH[Card("6c")]


def is_set(cards: Sequence[Card]) -> bool:
    """SET-1: plain cards of one rank plus any number of jokers, at least one card."""
    return bool(cards) and len({card[0] for card in cards if STRENGTH[card] < SMALL}) <= 1


def beats_by_sorting(play: Sequence[Card], table: Sequence[Card]) -> bool:
    """BEAT-1: as many cards, and both sorted, each strictly higher than its counterpart."""
    pairs = zip(sorted(strengths(play)), sorted(strengths(table)), strict=False)
    return len(play) == len(table) and all(mine > theirs for mine, theirs in pairs)


def roasts_by_search(play: Sequence[Card], table: Sequence[Card]) -> bool:
    """ROAST-1: try every way to give each card of the table a group that beats it, all cards used."""
    return _can_give(Counter(strengths(play)), sorted(strengths(table), reverse=True))


def beats(play: Sequence[Card], table: Sequence[Card], *, roast: bool) -> bool:
    """Tell whether a set beats another: ROAST-1 where it is on and a joker lies, else BEAT-1."""
    roasting = roast and any(STRENGTH[card] >= SMALL for card in table)
    return roasts_by_search(play, table) if roasting else beats_by_sorting(play, table)


def holds_sixes(play: Sequence[Card], held: int) -> bool:
    """HOLD-1: the set has a 6, and is not all the cards held or not sixes alone."""
    values = strengths(play)
    return _SIX in values and (len(play) != held or set(values) != {_SIX})


def legal_plays(hand: Sequence[Card], table: Sequence[Card], *, roast: bool, hold6: bool) -> set[Shape]:
    """Return the shapes of all sub-multisets of the hand that may be played on the table (empty: leading)."""
    return {
        shape(play)
        for play in _choices(hand)
        if is_set(play)
        and not (hold6 and holds_sixes(play, len(hand)))
        and (not table or beats(play, table, roast=roast))
    }


def shape(cards: Sequence[Card]) -> Shape:
    """Return the shape of a set."""
    values = strengths(cards)
    plain = [value for value in values if value < SMALL]
    return Shape(plain[0] if plain else -1, len(plain), values.count(SMALL), values.count(BIG))


def strengths(cards: Sequence[Card]) -> list[int]:
    """Return the cards' strengths."""
    return [STRENGTH[card] for card in cards]


def _can_give(left: Counter[int], table: list[int]) -> bool:
    if not table:
        return not +left
    return any(
        _can_give(left - group, table[1:])
        for group in _groups(left, table[0])
        if all(left[k] >= n for k, n in group.items())
    )


def _groups(left: Counter[int], card: int) -> Iterator[Counter[int]]:
    yield from (Counter([value]) for value in left if value > card)
    if card == BIG:
        yield Counter({BIG: 2})
        yield Counter({SMALL: 3})
    if card == SMALL:
        yield Counter({SMALL: 2})


def _choices(hand: Sequence[Card]) -> Iterator[list[Card]]:
    """Yield every non-empty sub-multiset once: how many of each distinct card, and which do not matter."""
    held = Counter(hand)
    for counts in product(*(range(count + 1) for count in held.values())):
        picked = [card for card, count in zip(held, counts, strict=True) for _ in range(count)]
        if picked:
            yield picked
