"""What a bot says before the cards are played: the crown, the call, the secret answers, the tribute. Pure.

Every threshold is a worth as `strength` counts it. Alone against four one needs about twice an average hand.
"""

from typing import Final

from baohuang.rules.cards import STRENGTH, SWORD, Card, identical
from baohuang.rules.commands import (
    AnswerKick,
    AnswerSeize,
    CallCard,
    Declare,
    DeclareOpenSolo,
    Enthrone,
    Move,
    ReturnTribute,
    Yield,
)
from baohuang.rules.phases.tribute import default_return
from baohuang.rules.rulesets import Guarding, Ruleset
from baohuang.rules.settlement import Solo
from baohuang.rules.state import Answer, Hand, Table
from command_line.bots.sides import is_guard
from command_line.bots.strength import CROWN_WORTH, worth

_TRIPLE: Final = 3
_FOUR: Final = 4
_ENTHRONE: Final = 14.0
_ENTHRONE_ALONE: Final = 22.0
_PASTED_WORTH: Final = 0.7
"""What a card in the pile is worth, most of them being 2s (CROWN-2)."""
_OPEN_SOLO: Final = 25.0
_OPEN_GUARD: Final = 15.0
_REVOLT: Final = 14.0
_KICK: Final = 16.0
_HOPELESS: Final = 10.0


def crown_answer(table: Table, hand: Hand, seat: int) -> Move:
    """Take the crown with a hand that can bear it; CROWN-3 asks for three of a card as well."""
    own = hand.hands[seat]
    pile = len(hand.offer.pile) if hand.offer else 0
    value = worth(own) + CROWN_WORTH + _PASTED_WORTH * pile
    if table.ruleset.guarding is Guarding.SWORD_CARD:
        wanted = _ENTHRONE_ALONE if SWORD in own else _ENTHRONE
        return Enthrone() if value >= wanted else Yield()
    if value >= _OPEN_SOLO:
        return DeclareOpenSolo()
    if identical(own, _TRIPLE):
        return Enthrone() if value >= _ENTHRONE else Yield()
    return Enthrone() if identical(own, _FOUR) and value >= _ENTHRONE_ALONE else Yield()


def seize_answer(hand: Hand, seat: int) -> Move:
    """Seize the crown only with a hand for one against four."""
    return AnswerSeize(Answer.SEIZE if worth(hand.hands[seat]) >= _OPEN_SOLO else Answer.NONE)


def call(hand: Hand, seat: int) -> Move:
    """Call the highest card of three: who holds the fourth has a high card at least; else all four, or open solo."""
    own = hand.hands[seat]
    triples, fours = identical(own, _TRIPLE), identical(own, _FOUR)
    if worth(own) >= _OPEN_SOLO or not (triples or fours):
        return DeclareOpenSolo()
    return CallCard(max(triples or fours, key=_rank))


def declaration(table: Table, hand: Hand, seat: int) -> Move:
    """Declare what doubles the points with a strong hand, and give a hopeless solo up."""
    value = worth(hand.hands[seat])
    if seat == hand.roles.emperor:
        return Declare(_emperors_word(table.ruleset, hand, value))
    if is_guard(hand, seat):
        open_guard = table.ruleset.open_guard and value >= _OPEN_GUARD
        return Declare(Answer.OPEN_GUARD if open_guard else Answer.NONE)
    revolt = table.ruleset.revolt_threshold and value >= _REVOLT
    return Declare(Answer.REVOLT if revolt else Answer.NONE)


def kick_answer(hand: Hand, seat: int) -> Move:
    """Kick with a hand that should win; never as the guard, to whom it is refused (KICK-1)."""
    kicks = worth(hand.hands[seat]) >= _KICK and not is_guard(hand, seat)
    return AnswerKick(Answer.KICK if kicks else Answer.NONE)


def returned_tribute(hand: Hand, seat: int) -> Move:
    """Return the lowest cards that may be returned (TRIB-2)."""
    return ReturnTribute(default_return(hand, seat))


def _emperors_word(ruleset: Ruleset, hand: Hand, value: float) -> Answer:
    if hand.roles.solo is not Solo.HIDDEN:
        return Answer.NONE
    if ruleset.guarding is Guarding.SWORD_CARD and value >= _OPEN_SOLO:
        return Answer.OPEN_SOLO
    return Answer.SURRENDER if ruleset.surrender and value < _HOPELESS else Answer.NONE


def _rank(card: Card) -> int:
    return STRENGTH[card]
