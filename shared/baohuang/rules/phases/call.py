"""CALL (叫保): CALL-1, CALL-2."""

from baohuang.rules.cards import Card, identical
from baohuang.rules.decision import Decision
from baohuang.rules.events import CardCalled, HiddenCall, OpenSoloDeclared
from baohuang.rules.phases.asking import check_may_speak
from baohuang.rules.refusals import Refusal, RefusedError
from baohuang.rules.settlement import Solo
from baohuang.rules.state import ALL_SEATS, Hand, Phase

_TRIPLE = 3
_FOUR = 4


def call_card(decision: Decision, seat: int, card: Card, *, automatic: bool = False) -> None:
    """CALL-1: name a plain card of which the emperor holds exactly three, or all four (hidden solo)."""
    hand = decision.hand
    check_may_speak(hand, seat, Phase.CALL)
    own = hand.hands[seat]
    if card in identical(own, _FOUR):
        hidden = HiddenCall(None, Solo.HIDDEN)
    elif card in identical(own, _TRIPLE):
        hidden = HiddenCall(_holder_of_the_fourth(hand, seat, card), None)
    else:
        raise RefusedError(Refusal.CANNOT_CALL, "CALL-1", f"you do not hold exactly three, or all four, of {card}")
    decision.emit(CardCalled(seat=seat, card=card, automatic=automatic, hidden=hidden))


def declare_open_solo(decision: Decision, seat: int) -> None:
    """CALL-1: the emperor declares open solo instead of calling."""
    check_may_speak(decision.hand, seat, Phase.CALL)
    decision.emit(OpenSoloDeclared(seat))


def default_call(decision: Decision, seat: int) -> None:
    """Call the highest-ranked card of which exactly three are held; none: of which four are (section 3, TIE-1)."""
    own = decision.hand.hands[seat]
    call_card(decision, seat, _highest_ranked(identical(own, _TRIPLE) or identical(own, _FOUR)), automatic=True)


def _highest_ranked(cards: tuple[Card, ...]) -> Card:
    """Return the first by TIE-1 among the cards of the highest rank; `cards` are in order."""
    return next(card for card in cards if card[0] == cards[-1][0])


def _holder_of_the_fourth(hand: Hand, emperor: int, card: Card) -> int | None:
    return next((seat for seat in ALL_SEATS if seat != emperor and card in hand.hands[seat]), None)
