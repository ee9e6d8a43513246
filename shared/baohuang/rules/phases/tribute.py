"""TRIBUTE (进贡): TRIB-1, TRIB-2."""

from baohuang.rules.cards import CROWN, ORDER, RANKS, STRENGTH, Card, holds, in_order, without
from baohuang.rules.clock import NEVER
from baohuang.rules.decision import Decision
from baohuang.rules.events import HiddenCards, HiddenPayments, PaidCards, TributeCount, TributePaid, TributeReturned
from baohuang.rules.phases.asking import check_may_speak
from baohuang.rules.refusals import Refusal, RefusedError
from baohuang.rules.state import Hand, Payment, Phase, Previous, Table, downstream_of

_LOWEST_PAID = RANKS.index("2")
_LAST_TO_FIRST = 2
_FOURTH_TO_SECOND = 1


def pay_tribute(decision: Decision) -> None:
    """TRIB-1: make all payments that the table's last hand calls for; none if it calls for none."""
    due = _due(decision.table)
    payments = _payments(decision.hand, due)
    if not payments:
        return
    turn = _first_receiver(decision.hand, payments)
    decision.emit(
        TributePaid(
            payments=tuple(TributeCount(paid.payer, paid.receiver, len(paid.cards)) for paid in payments),
            turn=turn,
            hidden=HiddenPayments(payments),
            due_at=NEVER if turn is None else decision.turn_ends(),
        ),
    )


def return_tribute(decision: Decision, seat: int, cards: tuple[Card, ...], *, automatic: bool = False) -> None:
    """TRIB-2: the receiver whose turn it is returns cards of his choice to the payer whose turn it is."""
    hand = decision.hand
    check_may_speak(hand, seat, Phase.TRIBUTE)
    due = next(paid for paid in hand.tribute if paid.receiver == seat and not paid.returned)
    if not holds(hand.hands[seat], cards):
        raise RefusedError(Refusal.NOT_YOUR_CARDS, "TRIB-2", "you do not hold these cards")
    returnable = _returnable(hand, seat)
    wanted = min(len(due.cards), len(returnable))
    if len(cards) != wanted or not holds(returnable, cards):
        raise RefusedError(
            Refusal.NOT_ELIGIBLE,
            "TRIB-2",
            f"return exactly {wanted} of your own cards: not the crown, not one just received",
        )
    turn = _next_receiver(hand, due, cards)
    decision.emit(
        TributeReturned(
            seat=seat,
            payer=due.payer,
            count=len(cards),
            turn=turn,
            automatic=automatic,
            hidden=HiddenCards(in_order(cards)),
            due_at=NEVER if turn is None else decision.turn_ends(),
        ),
    )


def default_return(hand: Hand, seat: int) -> tuple[Card, ...]:
    """Return the lowest cards that the receiver may return, equals by TIE-1."""
    due = next(paid for paid in hand.tribute if paid.receiver == seat and not paid.returned)
    return _returnable(hand, seat)[: len(due.cards)]


def _due(table: Table) -> tuple[tuple[int, int, int], ...]:
    """TRIB-1: who pays whom how many cards, in the order of the returns; seats as they are now."""
    previous, hand = table.previous, table.hand
    if previous is None or hand is None or not previous.pays_tribute or not any(previous.points):
        return ()
    if hand.deal > 1 or sorted(previous.players) != sorted(hand.players):
        return ()
    return tuple(
        (hand.players.index(previous.players[payer]), hand.players.index(previous.players[receiver]), count)
        for payer, receiver, count in _due_by_result(previous)
    )


def _due_by_result(previous: Previous) -> tuple[tuple[int, int, int], ...]:
    if previous.solo is not None:
        others = downstream_of(previous.emperor)[1:]
        if previous.points[previous.emperor] > 0:
            return tuple((other, previous.emperor, 1) for other in others)
        return tuple((previous.emperor, other, 1) for other in others)
    crown = {previous.emperor, previous.guard}
    first, second, _, fourth, fifth = previous.places
    pairs = ((fifth, first, _LAST_TO_FIRST), (fourth, second, _FOURTH_TO_SECOND))
    return tuple(pair for pair in pairs if (pair[0] in crown) != (pair[1] in crown))


def _payments(hand: Hand, due: tuple[tuple[int, int, int], ...]) -> tuple[PaidCards, ...]:
    """TRIB-2: the payer's highest among BJ (never BJ*), SJ, SJ*, 2; what he lacks he does not pay."""
    left = {payer: _payable(hand.hands[payer]) for payer, _, _ in due}
    payments = []
    for payer, receiver, count in due:
        cards, left[payer] = left[payer][:count], left[payer][count:]
        if cards:
            payments.append(PaidCards(payer, receiver, cards))
    return tuple(payments)


def _payable(hand: tuple[Card, ...]) -> tuple[Card, ...]:
    high = (card for card in hand if STRENGTH[card] >= _LOWEST_PAID and card != CROWN)
    return tuple(sorted(high, key=lambda card: (-STRENGTH[card], ORDER[card])))


def _returnable(hand: Hand, seat: int) -> tuple[Card, ...]:
    """TRIB-2: not the crown, not one just received, counted by card name."""
    received = [card for paid in hand.tribute if paid.receiver == seat for card in paid.cards]
    own = without(hand.hands[seat], received)
    return tuple(card for card in own if card != CROWN)


def _first_receiver(hand: Hand, payments: tuple[PaidCards, ...]) -> int | None:
    """Return who returns first: payments are still to be made, so a receiver's own cards are what he holds now."""
    for paid in payments:
        kept = without(hand.hands[paid.receiver], _paid_by(payments, paid.receiver))
        if any(card != CROWN for card in kept):
            return paid.receiver
    return None


def _paid_by(payments: tuple[PaidCards, ...], seat: int) -> tuple[Card, ...]:
    return tuple(card for paid in payments if paid.payer == seat for card in paid.cards)


def _next_receiver(hand: Hand, done: Payment, returned: tuple[Card, ...]) -> int | None:
    for paid in hand.tribute[hand.tribute.index(done) + 1 :]:
        own = len(_returnable(hand, paid.receiver))
        if own > (len(returned) if paid.receiver == done.receiver else 0):
            return paid.receiver
    return None
