"""Event → hand: the part of `evolve` that looks no further than the hand itself."""

from dataclasses import replace
from typing import Final, assert_never

from baohuang.rules import events as ev
from baohuang.rules.cards import CROWN, HIDDEN, Card, in_order, without
from baohuang.rules.clock import NEVER
from baohuang.rules.deal import SEATS
from baohuang.rules.frozen import changed, put
from baohuang.rules.settlement import Solo
from baohuang.rules.state import (
    NO_CARDS,
    Answer,
    Connection,
    Hand,
    Instant,
    Offer,
    Pasted,
    Payment,
    Phase,
    Reversible,
    Trick,
    Trusteeship,
)

NO_ANSWERS: Final[tuple[Answer | None, ...]] = (None,) * SEATS


def evolve_hand(hand: Hand, event: ev.HandEvent, version: int) -> Hand:  # noqa: C901, PLR0911, PLR0912 - one line an event
    """Return the hand after an event of its own, which is the table's of that version."""
    match event:
        case ev.CardsPlayed():
            return _cards_played(hand, event, version)
        case ev.Passed():
            trick = hand.trick
            trick = Trick() if event.trick_over else Trick(trick.cards, trick.player, trick.passes + 1)
            return changed(hand, turn=event.turn, due_at=event.due_at, turn_version=version, trick=trick)
        case ev.Answered():
            answer = event.hidden.answer if event.hidden else Answer.HIDDEN
            return changed(hand, answers=put(hand.answers, event.seat, answer))
        case ev.PhaseBegan():
            hand = changed(hand, phase=event.phase, asked=event.asked, answers=NO_ANSWERS)
            return _turn_opened(hand, event.turn, event.due_at, version)
        case ev.TributePaid():
            return _turn_opened(_tribute_paid(hand, event), event.turn, event.due_at, version)
        case ev.TributeReturned():
            return _turn_opened(_tribute_returned(hand, event), event.turn, event.due_at, version)
        case ev.CrownOffered():
            hands = put(hand.hands, event.seat, without(hand.hands[event.seat], (CROWN,)))
            hand = replace(hand, phase=Phase.CROWN, hands=hands, offer=Offer(origin=event.seat))
            return _turn_opened(hand, event.seat, event.due_at, version)
        case ev.CrownYielded():
            return _turn_opened(_crown_yielded(hand, event), event.turn, event.due_at, version)
        case ev.RedealOrdered():
            return _redeal_ordered(hand)
        case ev.EmperorEnthroned():
            return _enthroned(hand, event)
        case ev.SeizePublished():
            return _seize_published(hand, event)
        case ev.CardCalled():
            guard, solo = (event.hidden.guard, event.hidden.solo) if event.hidden else (None, None)
            roles = replace(hand.roles, called=event.card, guard=guard, solo=solo, settled=True)
            return replace(hand, turn=None, due_at=NEVER, roles=roles)
        case ev.OpenSoloDeclared():
            roles = replace(hand.roles, solo=Solo.OPEN, public_solo=True, settled=True)
            return replace(hand, turn=None, due_at=NEVER, roles=roles)
        case ev.DeclarationsPublished():
            return _declarations_published(hand, event)
        case ev.KicksPublished():
            stakes = replace(hand.stakes, kicked=bool(event.kickers), kickers=event.kickers)
            return replace(hand, stakes=stakes, due_at=NEVER, asked=(), answers=NO_ANSWERS)
        case ev.SeatWentOut():
            return replace(hand, out=(*hand.out, event.seat))
        case ev.RoleRevealed():
            return _role_revealed(hand, event)
        case ev.TrusteeshipEntered():
            return _trusteeship_entered(hand, event, version)
        case ev.TrusteeshipMadePermanent():
            return _with_trusteeship(hand, event.seat, replace(hand.trusteeships[event.seat], permanent=True))
        case ev.TrusteeshipCancelled():
            return _with_trusteeship(hand, event.seat, replace(hand.trusteeships[event.seat], active=False))
        case ev.PlayerFined():
            fines = put(hand.fines, event.seat, hand.fines[event.seat] + event.points)
            return replace(hand, fines=fines, reversible=(*hand.reversible, Reversible(version, event.seat)))
        case ev.TurnExtended():
            return replace(hand, due_at=event.due_at, turn_version=version)
        case ev.ConnectionLost():
            lost = replace(hand.connections[event.seat], lost_at=event.lost_at, lost_in=hand.turn_version)
            return _with_connection(hand, event.seat, replace(lost, version=version))
        case ev.ConnectionRestored():
            back = replace(hand.connections[event.seat], lost_at=NEVER, restored_in=hand.turn_version)
            return _with_connection(hand, event.seat, replace(back, version=version))
        case ev.HandVoided():
            return hand
        case ev.FineReversed() | ev.VoidReversed():
            return _reversed(hand, event.reverses, version)
        case ev.CardsDealt():
            raise ValueError("cards are dealt to a table")
        case _:
            assert_never(event)


def _turn_opened(hand: Hand, turn: int | None, due_at: Instant, version: int) -> Hand:
    return changed(hand, turn=turn, due_at=due_at, turn_version=version)


def _with_connection(hand: Hand, seat: int, connection: Connection) -> Hand:
    return replace(hand, connections=put(hand.connections, seat, connection))


def _cards_played(hand: Hand, event: ev.CardsPlayed, version: int) -> Hand:
    seat = event.seat
    return changed(
        hand,
        turn=event.turn,
        due_at=event.due_at,
        turn_version=version,
        hands=put(hand.hands, seat, without(hand.hands[seat], event.cards)),
        trick=Trick(event.cards, seat, 0),
        out=(*hand.out, seat) if event.place else hand.out,
    )


def _gain(hand: Hand, seat: int, cards: tuple[Card, ...]) -> tuple[tuple[Card, ...], ...]:
    return put(hand.hands, seat, in_order((*hand.hands[seat], *cards)))


def _lose(hand: Hand, seat: int, cards: tuple[Card, ...]) -> tuple[tuple[Card, ...], ...]:
    return put(hand.hands, seat, without(hand.hands[seat], cards))


def _tribute_paid(hand: Hand, event: ev.TributePaid) -> Hand:
    shown = {(paid.payer, paid.receiver): paid.cards for paid in event.hidden.payments} if event.hidden else {}
    tribute = tuple(
        Payment(paid.payer, paid.receiver, shown.get((paid.payer, paid.receiver), (HIDDEN,) * paid.count))
        for paid in event.payments
    )
    for payment in tribute:
        hand = replace(hand, hands=_lose(hand, payment.payer, payment.cards))
    for payment in tribute:
        hand = replace(hand, hands=_gain(hand, payment.receiver, _seen(hand, payment.receiver, payment.cards)))
    return replace(hand, phase=Phase.TRIBUTE, tribute=tribute)


def _seen(hand: Hand, seat: int, cards: tuple[Card, ...]) -> tuple[Card, ...]:
    """Return the cards as the holder of this state sees them in that seat's hand: all HIDDEN if the hand is masked."""
    held = hand.hands[seat]
    return (HIDDEN,) * len(cards) if held and held[0] == HIDDEN else cards


def _tribute_returned(hand: Hand, event: ev.TributeReturned) -> Hand:
    cards = event.hidden.cards if event.hidden else (HIDDEN,) * event.count
    hand = replace(hand, hands=_lose(hand, event.seat, cards))
    hand = replace(hand, hands=_gain(hand, event.payer, _seen(hand, event.payer, cards)))
    tribute = tuple(
        replace(paid, returned=True) if (paid.payer, paid.receiver) == (event.payer, event.seat) else paid
        for paid in hand.tribute
    )
    return replace(hand, tribute=tribute)


def _crown_yielded(hand: Hand, event: ev.CrownYielded) -> Hand:
    if hand.offer is None:
        raise ValueError("the crown is refused before it is offered")
    offer = replace(hand.offer, refusals=hand.offer.refusals + 1)
    hands = hand.hands
    if event.pasted:
        card = event.hidden.card if event.hidden else HIDDEN
        offer = replace(offer, pile=(*offer.pile, Pasted(event.seat, card)))
        hands = _lose(hand, event.seat, (card,))
    return replace(hand, offer=offer, hands=hands)


def _redeal_ordered(hand: Hand) -> Hand:
    return replace(
        hand,
        phase=Phase.REDEAL,
        turn=None,
        due_at=NEVER,
        offer=None,
        tribute=(),
        hands=(NO_CARDS,) * SEATS,
    )


def _enthroned(hand: Hand, event: ev.EmperorEnthroned) -> Hand:
    hidden = event.hidden
    cards = hidden.cards if hidden and hidden.cards else (HIDDEN,) * event.pile
    roles = replace(
        hand.roles,
        emperor=event.seat,
        guard=hidden.guard if hidden else None,
        solo=Solo.OPEN if event.open_solo else hidden.solo if hidden else None,
        public_solo=event.open_solo,
        settled=event.roles_settled,
    )
    hands = _gain(hand, event.seat, cards)
    return replace(hand, turn=None, due_at=NEVER, offer=None, tribute=(), roles=roles, hands=hands)


def _seize_published(hand: Hand, event: ev.SeizePublished) -> Hand:
    roles = replace(hand.roles, settled=event.roles_settled)
    if event.winner is not None:
        roles = replace(roles, emperor=event.winner, guard=None, solo=Solo.OPEN, public_solo=True)
    return replace(hand, roles=roles, due_at=NEVER, asked=(), answers=NO_ANSWERS)


def _declarations_published(hand: Hand, event: ev.DeclarationsPublished) -> Hand:
    stakes = replace(
        hand.stakes,
        open_guard=event.open_guard,
        revolt=event.revolt,
        surrendered=event.surrendered,
        revolters=event.revolters,
    )
    roles = hand.roles
    if event.guard is not None:
        roles = replace(roles, guard=event.guard, public_guard=event.guard)
    if event.solo is not None:
        roles = replace(roles, solo=event.solo, public_solo=True)
    return replace(hand, stakes=stakes, roles=roles, due_at=NEVER, asked=(), answers=NO_ANSWERS)


def _role_revealed(hand: Hand, event: ev.RoleRevealed) -> Hand:
    if event.solo:
        return replace(hand, roles=replace(hand.roles, solo=Solo.HIDDEN, public_solo=True))
    return replace(hand, roles=replace(hand.roles, guard=event.seat, public_guard=event.seat))


def _with_trusteeship(hand: Hand, seat: int, standing: Trusteeship) -> Hand:
    return replace(hand, trusteeships=put(hand.trusteeships, seat, standing))


def _trusteeship_entered(hand: Hand, event: ev.TrusteeshipEntered, version: int) -> Hand:
    standing = replace(hand.trusteeships[event.seat], active=True, entries=event.entry, version=version)
    return _with_trusteeship(hand, event.seat, standing)


def _reversed(hand: Hand, reverses: int, version: int) -> Hand:
    """Note that a ruling was taken back; all else is as it was, clocks and turn above all."""
    noted = (replace(one, reversed_by=version) if one.version == reverses else one for one in hand.reversible)
    return replace(hand, reversible=tuple(noted))
