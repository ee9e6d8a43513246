"""What is possible for a seat now, in a few lines: the help. Pure."""

from collections.abc import Sequence
from typing import Final

from baohuang.rules.legal import legal_shapes
from baohuang.rules.phases.asking import seats_to_act
from baohuang.rules.phases.crown import able
from baohuang.rules.phases.tribute import default_return
from baohuang.rules.plays import Shape, shape_of
from baohuang.rules.rulesets import Guarding, Ruleset
from baohuang.rules.settlement import Solo
from baohuang.rules.state import Hand, Phase, Table
from command_line.demo.words import called, names
from command_line.play.card_words import word_for
from command_line.play.requests import NO_HAND, callable_cards

_MOST: Final = 48
"""How many plays are listed."""
COMMANDS: Final = (
    "at any time: h help · t the trustee plays, or take the seat back · q leave",
    "a lone ten is 10 or T, a lone queen Q; s and b are the jokers, apart from ranks: 99 s",
)


def choices(table: Table, seat: int) -> Sequence[str]:
    """Return what the seat may type now, a line a choice, and the commands that are always there."""
    return [*_now(table, seat), *COMMANDS]


def plays(ruleset: Ruleset, hand: Hand, seat: int) -> Sequence[Shape]:
    """Return the legal plays to be listed, cheapest first: without jokers before with.

    A lead is listed without jokers unless there is nothing else, as any may be added to it.
    """
    shapes = legal_shapes(hand.hands[seat], shape_of(hand.trick.cards), ruleset.roast, ruleset.hold6)
    ordered = sorted(shapes, key=lambda shape: (shape.big, shape.small, shape))
    if hand.trick.cards:
        return ordered
    return [shape for shape in ordered if not shape.small + shape.big] or ordered


def _now(table: Table, seat: int) -> Sequence[str]:  # noqa: PLR0911 - one line a phase
    hand = table.hand
    if hand is None or hand.result is not None:
        return [NO_HAND]
    if seat not in seats_to_act(hand):
        waiting = ", ".join(called(table, other) for other in seats_to_act(hand))
        return [f"nothing to do: {waiting or 'nobody'} has to act"]
    match hand.phase:
        case Phase.TRIBUTE:
            lowest = default_return(hand, seat)
            return [f"r and {len(lowest)} cards = return them 还贡, e.g. r {names(lowest)}"]
        case Phase.CROWN:
            return _crown(table.ruleset, hand, seat)
        case Phase.SEIZE:
            return ["s = seize the crown 抢独: emperor alone against four", "n = do not"]
        case Phase.CALL:
            return _call(hand, seat)
        case Phase.DECLARE:
            return _declare(table.ruleset, hand, seat)
        case Phase.KICK:
            return _kick(hand, seat)
        case Phase.PLAY:
            return _play(table.ruleset, hand, seat)
    return [f"nobody acts in {hand.phase.name}"]


def _crown(ruleset: Ruleset, hand: Hand, seat: int) -> Sequence[str]:
    if ruleset.guarding is Guarding.SWORD_CARD:
        return ["e = enthrone yourself 登基", "y = yield the crown 让位 to the previous seat"]
    lines = ["e = enthrone yourself 登基, and call a card"] if able(hand.hands[seat]) else []
    return [*lines, "y = yield the crown 让位", "o = open solo 明独: emperor alone against four"]


def _call(hand: Hand, seat: int) -> Sequence[str]:
    cards = callable_cards(hand.hands[seat])
    calls = [f"c and a card = call it 叫保, its fourth copy is the guard: {' | '.join(f'c {card}' for card in cards)}"]
    return [*(calls if cards else []), "o = open solo 明独: alone against four"]


def _declare(ruleset: Ruleset, hand: Hand, seat: int) -> Sequence[str]:
    """DECL-1, 2, 3, 5: what is this seat's to declare."""
    roles = hand.roles
    hidden_solo = seat == roles.emperor and roles.solo is Solo.HIDDEN
    lines = {
        "g = open guard 明保: show yourself, points double": ruleset.open_guard and seat == roles.guard,
        "o = open solo 明独": hidden_solo and ruleset.guarding is Guarding.SWORD_CARD,
        "r = revolt 造反": bool(ruleset.revolt_threshold) and seat not in {roles.emperor, roles.guard},
        "u = surrender 投降": ruleset.surrender and hidden_solo,
    }
    return [*(line for line, possible in lines.items() if possible), "n = declare nothing"]


def _kick(hand: Hand, seat: int) -> Sequence[str]:
    may = seat != hand.roles.guard
    return [*(["k = kick 踢: points double again"] if may else []), "n = do not kick"]


def _play(ruleset: Ruleset, hand: Hand, seat: int) -> Sequence[str]:
    found = plays(ruleset, hand, seat)
    more = f" | … and {len(found) - _MOST} more" if len(found) > _MOST else ""
    listed = f"you may play: {' | '.join(word_for(shape) for shape in found[:_MOST])}{more}"
    if hand.trick.cards:
        return [listed, "p = pass"] if found else ["nothing of yours beats it", "p = pass"]
    return [listed, "jokers may be added to any of them; you lead, so you cannot pass"]
