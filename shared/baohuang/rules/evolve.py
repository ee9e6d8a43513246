"""Event → state. Events say their consequences, so nothing here decides anything.

The same functions fold the full log and a viewer's redacted one: on a masked state, cards that an event does not show
move as HIDDEN ones. For every viewer v: evolve(mask(state, v), redact(event, v)) = mask(evolve(state, event), v).
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce
from typing import Final, TypeVar, assert_never

from baohuang.rules import events as ev
from baohuang.rules.cards import CROWN, HIDDEN, Card, in_order, without
from baohuang.rules.deal import SEATS
from baohuang.rules.frozen import changed
from baohuang.rules.rulesets import ruleset_named, with_options
from baohuang.rules.settlement import Solo
from baohuang.rules.state import (
    ALL_SEATS,
    NO_CARDS,
    NOBODY,
    Answer,
    Commitment,
    Hand,
    Offer,
    Pasted,
    Payment,
    Phase,
    Previous,
    Result,
    SeatAtTable,
    Table,
    TableStatus,
    Trick,
    Trusteeship,
)

_T = TypeVar("_T")
_NO_ANSWERS: tuple[Answer | None, ...] = (None,) * SEATS


INITIAL: Final = None
"""The state before the first event: no table."""


def fold(events: Iterable[ev.Event], table: Table | None = INITIAL) -> Table | None:
    """Return the state after the events, in order, from `table` on."""
    return reduce(evolve, events, table)


def evolve(table: Table | None, event: ev.Event) -> Table:  # noqa: C901, PLR0911 - one line an event
    """Return the state after one event. TableOpened and HandStarted need no state before them."""
    match event:
        case ev.CardsPlayed() | ev.Passed() if table is not None:
            return changed(table, hand=_evolve_hand(_hand(table), event))
        case ev.TableOpened():
            return _opened(event)
        case ev.HandStarted():
            return _hand_started(event)
        case _ if table is None:
            raise ValueError(f"{type(event).__name__} before there is a table")
        case ev.PlayerSat():
            return _with_seat(table, event.seat, SeatAtTable(event.player))
        case ev.PlayerStood():
            return _with_seat(table, event.seat, SeatAtTable(NOBODY))
        case ev.ReadinessSet():
            return _with_seat(table, event.seat, SeatAtTable(event.player, event.ready, event.entropy))
        case ev.SeedCommitted():
            seed = event.hidden.seed if event.hidden else ""
            return replace(table, commitment=Commitment(event.hand, event.deal, event.commitment, seed))
        case ev.HandFinished():
            return _hand_finished(table, event)
        case ev.TableDissolved():
            return replace(table, status=TableStatus.DISSOLVED, seats=(SeatAtTable(),) * SEATS)
        case ev.CardsDealt():
            return _cards_dealt(table, event)
        case _:
            return replace(table, hand=_evolve_hand(_hand(table), event))


def _hand(table: Table) -> Hand:
    if table.hand is None:
        raise ValueError("an event of a hand before there is one")
    return table.hand


def _opened(event: ev.TableOpened) -> Table:
    return Table(
        table_id=event.table_id,
        ruleset=with_options(ruleset_named(event.ruleset), event.options),
        options=event.options,
        opened_by=event.opened_by,
    )


def _with_seat(table: Table, seat: int, taken: SeatAtTable) -> Table:
    return replace(table, seats=_put(table.seats, seat, taken))


def _put(values: tuple[_T, ...], seat: int, value: _T) -> tuple[_T, ...]:
    return (*values[:seat], value, *values[seat + 1 :])


def _hand_started(event: ev.HandStarted) -> Table:
    seed = event.hidden.seed if event.hidden else ""
    return Table(
        table_id=event.table_id,
        ruleset=with_options(ruleset_named(event.ruleset), event.options),
        options=event.options,
        opened_by=event.opened_by,
        seats=tuple(
            SeatAtTable(player, ready=True, entropy=entropy)
            for player, entropy in zip(event.players, event.entropy, strict=True)
        ),
        hands_played=event.hand - 1,
        commitment=Commitment(event.hand, 1, event.commitment, seed),
        previous=event.previous,
        hand=Hand(number=event.hand, players=event.players, dealer=event.dealer),
    )


def _cards_dealt(table: Table, event: ev.CardsDealt) -> Table:
    shown = {held.seat: held.cards for held in event.hidden.hands} if event.hidden else {}
    hand = replace(
        _hand(table),
        deal=event.deal,
        hands=tuple(shown.get(seat, (HIDDEN,) * event.sizes[seat]) for seat in ALL_SEATS),
    )
    seed = table.commitment.seed if table.commitment else ""
    return replace(table, hand=hand, seeds=(*table.seeds, seed), commitment=None)


def _hand_finished(table: Table, event: ev.HandFinished) -> Table:
    hand = _hand(table)
    left = {held.seat: held.cards for held in event.hands}
    finished = replace(
        hand,
        phase=Phase.SETTLED,
        turn=None,
        asked=(),
        hands=tuple(left.get(seat, NO_CARDS) for seat in ALL_SEATS),
        roles=replace(hand.roles, guard=event.guard, solo=event.solo),
        stakes=replace(hand.stakes, surrendered=event.surrendered),
        tribute=(),
        trick=Trick(),
        result=Result(event.places, event.points, event.void, event.seeds),
    )
    return replace(
        table,
        seats=tuple(SeatAtTable(seat.player) for seat in table.seats),
        hands_played=event.hand,
        seeds=event.seeds,
        previous=_previous(hand, event),
        hand=finished,
    )


def _previous(hand: Hand, event: ev.HandFinished) -> Previous:
    return Previous(
        players=hand.players,
        emperor=event.emperor,
        guard=event.guard,
        solo=event.solo,
        places=event.places,
        points=event.points,
        pays_tribute=not (event.void or event.surrendered),
    )


def _evolve_hand(hand: Hand, event: ev.HandEvent) -> Hand:  # noqa: C901, PLR0911, PLR0912 - one line an event
    match event:
        case ev.CardsPlayed():
            return _cards_played(hand, event)
        case ev.Passed():
            trick = hand.trick
            trick = Trick() if event.trick_over else Trick(trick.cards, trick.player, trick.passes + 1)
            return changed(hand, turn=event.turn, trick=trick)
        case ev.Answered():
            answer = event.hidden.answer if event.hidden else Answer.HIDDEN
            return replace(hand, answers=_put(hand.answers, event.seat, answer))
        case ev.PhaseBegan():
            return replace(hand, phase=event.phase, turn=event.turn, asked=event.asked, answers=_NO_ANSWERS)
        case ev.TributePaid():
            return _tribute_paid(hand, event)
        case ev.TributeReturned():
            return _tribute_returned(hand, event)
        case ev.CrownOffered():
            hands = _put(hand.hands, event.seat, without(hand.hands[event.seat], (CROWN,)))
            return replace(hand, phase=Phase.CROWN, turn=event.seat, hands=hands, offer=Offer(origin=event.seat))
        case ev.CrownYielded():
            return _crown_yielded(hand, event)
        case ev.RedealOrdered():
            return _redeal_ordered(hand)
        case ev.EmperorEnthroned():
            return _enthroned(hand, event)
        case ev.SeizePublished():
            return _seize_published(hand, event)
        case ev.CardCalled():
            guard, solo = (event.hidden.guard, event.hidden.solo) if event.hidden else (None, None)
            roles = replace(hand.roles, called=event.card, guard=guard, solo=solo, settled=True)
            return replace(hand, turn=None, roles=roles)
        case ev.OpenSoloDeclared():
            roles = replace(hand.roles, solo=Solo.OPEN, public_solo=True, settled=True)
            return replace(hand, turn=None, roles=roles)
        case ev.DeclarationsPublished():
            return _declarations_published(hand, event)
        case ev.KicksPublished():
            stakes = replace(hand.stakes, kicked=bool(event.kickers), kickers=event.kickers)
            return replace(hand, stakes=stakes, asked=(), answers=_NO_ANSWERS)
        case ev.SeatWentOut():
            return replace(hand, out=(*hand.out, event.seat))
        case ev.RoleRevealed():
            return _role_revealed(hand, event)
        case ev.TrusteeshipEntered():
            return _trusteeship_entered(hand, event)
        case ev.TrusteeshipMadePermanent():
            return _with_trusteeship(hand, event.seat, replace(hand.trusteeships[event.seat], permanent=True))
        case ev.TrusteeshipCancelled():
            return _with_trusteeship(hand, event.seat, replace(hand.trusteeships[event.seat], active=False))
        case ev.PlayerFined():
            return replace(hand, fines=_put(hand.fines, event.seat, hand.fines[event.seat] + event.points))
        case ev.HandVoided():
            return hand
        case ev.CardsDealt():
            raise ValueError("cards are dealt to a table")
        case _:
            assert_never(event)


def _cards_played(hand: Hand, event: ev.CardsPlayed) -> Hand:
    seat = event.seat
    return changed(
        hand,
        turn=event.turn,
        hands=_put(hand.hands, seat, without(hand.hands[seat], event.cards)),
        trick=Trick(event.cards, seat, 0),
        out=(*hand.out, seat) if event.place else hand.out,
    )


def _gain(hand: Hand, seat: int, cards: tuple[Card, ...]) -> tuple[tuple[Card, ...], ...]:
    return _put(hand.hands, seat, in_order((*hand.hands[seat], *cards)))


def _lose(hand: Hand, seat: int, cards: tuple[Card, ...]) -> tuple[tuple[Card, ...], ...]:
    return _put(hand.hands, seat, without(hand.hands[seat], cards))


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
    return replace(hand, phase=Phase.TRIBUTE, turn=event.turn, tribute=tribute)


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
    return replace(hand, turn=event.turn, tribute=tribute)


def _crown_yielded(hand: Hand, event: ev.CrownYielded) -> Hand:
    if hand.offer is None:
        raise ValueError("the crown is refused before it is offered")
    offer = replace(hand.offer, refusals=hand.offer.refusals + 1)
    hands = hand.hands
    if event.pasted:
        card = event.hidden.card if event.hidden else HIDDEN
        offer = replace(offer, pile=(*offer.pile, Pasted(event.seat, card)))
        hands = _lose(hand, event.seat, (card,))
    return replace(hand, turn=event.turn, offer=offer, hands=hands)


def _redeal_ordered(hand: Hand) -> Hand:
    return replace(
        hand,
        phase=Phase.REDEAL,
        turn=None,
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
    return replace(hand, turn=None, offer=None, tribute=(), roles=roles, hands=_gain(hand, event.seat, cards))


def _seize_published(hand: Hand, event: ev.SeizePublished) -> Hand:
    roles = replace(hand.roles, settled=event.roles_settled)
    if event.winner is not None:
        roles = replace(roles, emperor=event.winner, guard=None, solo=Solo.OPEN, public_solo=True)
    return replace(hand, roles=roles, asked=(), answers=_NO_ANSWERS)


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
    return replace(hand, stakes=stakes, roles=roles, asked=(), answers=_NO_ANSWERS)


def _role_revealed(hand: Hand, event: ev.RoleRevealed) -> Hand:
    if event.solo:
        return replace(hand, roles=replace(hand.roles, solo=Solo.HIDDEN, public_solo=True))
    return replace(hand, roles=replace(hand.roles, guard=event.seat, public_guard=event.seat))


def _with_trusteeship(hand: Hand, seat: int, standing: Trusteeship) -> Hand:
    return replace(hand, trusteeships=_put(hand.trusteeships, seat, standing))


def _trusteeship_entered(hand: Hand, event: ev.TrusteeshipEntered) -> Hand:
    standing = replace(hand.trusteeships[event.seat], active=True, entries=event.entry)
    return _with_trusteeship(hand, event.seat, standing)
