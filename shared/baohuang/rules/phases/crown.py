"""CROWN (登基, 让位): CROWN-1 to CROWN-5."""

from baohuang.rules.cards import BIG, CROWN, SMALL, STRENGTH, SWORD, Card, highest, identical
from baohuang.rules.clock import NEVER
from baohuang.rules.deal import SEATS
from baohuang.rules.decision import Decision
from baohuang.rules.events import (
    CrownOffered,
    CrownYielded,
    EmperorEnthroned,
    HiddenCrowning,
    HiddenPasted,
    RedealOrdered,
)
from baohuang.rules.phases.asking import check_may_speak
from baohuang.rules.refusals import Refusal, RefusedError
from baohuang.rules.rulesets import Guarding, Yielding
from baohuang.rules.settlement import Solo
from baohuang.rules.state import ALL_SEATS, Hand, Offer, Phase, upstream_of

_TRIPLE = 3
_FOUR = 4
_LAPS = 2 * SEATS
"""Refusals after which nobody is asked any more, where there is a second lap."""


def offer_crown(decision: Decision) -> None:
    """CROWN-1: ask the holder of the crown card first."""
    hands = decision.hand.hands
    holder = next(seat for seat in ALL_SEATS if CROWN in hands[seat])
    decision.emit(CrownOffered(holder, decision.turn_ends()))


def enthrone(decision: Decision, seat: int, *, automatic: bool = False) -> None:
    """CROWN-1, CROWN-3: the seat asked takes the crown; in called-card rulesets it must be able to call."""
    hand = decision.hand
    check_may_speak(hand, seat, Phase.CROWN)
    if decision.ruleset.guarding is Guarding.CALLED_CARD and not able(hand.hands[seat]):
        raise RefusedError(Refusal.CANNOT_CALL, "CROWN-3", "you hold no three identical cards: only open solo is left")
    _crown(decision, seat, "CROWN-1", automatic=automatic)


def enthrone_by_open_solo(decision: Decision, seat: int) -> None:
    """CROWN-3: the seat asked takes the crown by declaring open solo."""
    check_may_speak(decision.hand, seat, Phase.CROWN)
    if decision.ruleset.guarding is not Guarding.CALLED_CARD:
        raise RefusedError(Refusal.NOT_ELIGIBLE, "CROWN-3", "this ruleset has no open solo at the crown")
    _crown(decision, seat, "CROWN-3", open_solo=True)


def yield_crown(decision: Decision, seat: int, *, automatic: bool = False) -> None:
    """CROWN-1: the seat asked refuses the crown; then CROWN-2, CROWN-3 or CROWN-4 says who is next."""
    hand = decision.hand
    check_may_speak(hand, seat, Phase.CROWN)
    offer = _offer(hand)
    refusals = offer.refusals + 1
    card = _pasted(decision, seat, refusals)
    asked = _asked_after(decision, offer.origin, refusals)
    decision.emit(
        CrownYielded(
            seat=seat,
            pasted=card is not None,
            turn=asked,
            automatic=automatic,
            hidden=HiddenPasted(card) if card else None,
            due_at=NEVER if asked is None else decision.turn_ends(),
        ),
    )
    if asked is None:
        _settle_refused(decision, offer.origin, refusals)


def default_answer(decision: Decision, seat: int) -> None:
    """Enthrone; in called-card rulesets only with an exact triple, else yield (section 3)."""
    called = decision.ruleset.guarding is Guarding.CALLED_CARD
    if called and not identical(decision.hand.hands[seat], _TRIPLE):
        yield_crown(decision, seat, automatic=True)
    else:
        enthrone(decision, seat, automatic=True)


def able(cards: tuple[Card, ...]) -> bool:
    """CROWN-3: holds three or four identical plain cards."""
    return bool(identical(cards, _TRIPLE) or identical(cards, _FOUR))


def _must(cards: tuple[Card, ...]) -> bool:
    """CROWN-3: holds exactly three of some card and four of none."""
    return bool(identical(cards, _TRIPLE)) and not identical(cards, _FOUR)


def _offer(hand: Hand) -> Offer:
    if hand.offer is None:
        raise ValueError("the crown is not on offer")
    return hand.offer


def _pasted(decision: Decision, seat: int, refusals: int) -> Card | None:
    """CROWN-2: nothing with the first and the last refusal, else a 2 or the highest card that is no joker."""
    if decision.ruleset.yielding is not Yielding.PASTE or refusals in {1, _LAPS}:
        return None
    return highest(card for card in decision.hand.hands[seat] if STRENGTH[card] not in {SMALL, BIG})


def _asked_after(decision: Decision, origin: int, refusals: int) -> int | None:
    """Return the seat asked after so many refusals; None if nobody is."""
    if refusals < SEATS:
        return upstream_of(origin)[refusals]
    match decision.ruleset.yielding:
        case Yielding.HOLDER_MUST:
            return None
        case Yielding.PASTE:
            return upstream_of(origin)[refusals - SEATS] if refusals < _LAPS else None
        case Yielding.FORCED_SWEEP:
            seat = upstream_of(origin)[refusals - SEATS] if refusals < _LAPS else None
            return None if seat is None or _must(decision.hand.hands[seat]) else seat


def _settle_refused(decision: Decision, origin: int, refusals: int) -> None:
    """CROWN-2, CROWN-3, CROWN-4: nobody is asked any more, so somebody is forced or the cards are dealt anew."""
    match decision.ruleset.yielding:
        case Yielding.HOLDER_MUST:
            _crown(decision, origin, "CROWN-4", forced=True)
        case Yielding.PASTE:
            decision.emit(RedealOrdered("CROWN-2"))
        case Yielding.FORCED_SWEEP if refusals < _LAPS:
            _crown(decision, upstream_of(origin)[refusals - SEATS], "CROWN-3", forced=True)
        case Yielding.FORCED_SWEEP:
            decision.emit(RedealOrdered("CROWN-3"))


def _crown(
    decision: Decision,
    seat: int,
    rule: str,
    *,
    forced: bool = False,
    open_solo: bool = False,
    automatic: bool = False,
) -> None:
    hand, ruleset = decision.hand, decision.ruleset
    cards = (CROWN, *(pasted.card for pasted in _offer(hand).pile))
    by_sword = ruleset.guarding is Guarding.SWORD_CARD
    decision.emit(
        EmperorEnthroned(
            seat=seat,
            rule=rule,
            forced=forced,
            open_solo=open_solo,
            pile=len(cards),
            roles_settled=open_solo or (by_sword and not ruleset.seize),
            automatic=automatic,
            hidden=_crowning(hand, seat, cards, by_sword=by_sword),
        ),
    )


def _crowning(hand: Hand, seat: int, cards: tuple[Card, ...], *, by_sword: bool) -> HiddenCrowning:
    """CROWN-5, DECL-2: with a sword card its holder is guard from now on, or the emperor plays hidden solo."""
    if not by_sword:
        return HiddenCrowning(cards, None, None)
    holder = next(other for other in ALL_SEATS if SWORD in hand.hands[other])
    return HiddenCrowning(cards, None, Solo.HIDDEN) if holder == seat else HiddenCrowning(cards, holder, None)
