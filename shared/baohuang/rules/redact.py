"""What a viewer may know (TABLE-2): the one way out for events and for states.

A viewer is a seat of the hand, or None for everybody else (spectators, other tables, the world). Nobody gets a card or
a role that is not his to know before the hand is over; then everything of that hand is open to all.
"""

from dataclasses import replace
from typing import Any, TypeVar

from baohuang.rules import events as ev
from baohuang.rules.cards import HIDDEN, Card
from baohuang.rules.settlement import Solo
from baohuang.rules.state import Answer, Hand, Offer, Payment, Roles, Table, in_progress

Viewer = int | None
"""A seat 0..4, or None for the public."""

_E = TypeVar("_E", bound=ev.Event)


def redact(event: _E, viewer: Viewer, hand_over: bool) -> _E:  # noqa: FBT001 - a fact of the log, not a mode
    """Return the event as the viewer may see it. `hand_over`: the hand it belongs to is over."""
    hidden = getattr(event, "hidden", None)
    if hand_over or hidden is None:
        return event
    changes: dict[str, Any] = {"hidden": None if viewer is None else _seen(event, viewer)}
    return event if changes["hidden"] is hidden else replace(event, **changes)


def _seen(event: ev.Event, viewer: int) -> object:  # noqa: PLR0911 - one line an event
    """Return the part of `hidden` that the seat may know, None if there is nothing in it for him."""
    match event:
        case ev.Answered() | ev.CrownYielded():
            return event.hidden if event.seat == viewer else None
        case ev.CardsDealt(hidden=ev.HiddenHands(hands)):
            return ev.HiddenHands(tuple(held for held in hands if held.seat == viewer))
        case ev.TributePaid(hidden=ev.HiddenPayments(payments)):
            own = tuple(paid for paid in payments if viewer in {paid.payer, paid.receiver})
            return ev.HiddenPayments(own) if own else None
        case ev.TributeReturned():
            return event.hidden if viewer in {event.seat, event.payer} else None
        case ev.EmperorEnthroned(hidden=ev.HiddenCrowning() as hidden):
            return _crowning_seen(hidden, event.seat, viewer)
        case ev.CardCalled(hidden=ev.HiddenCall(guard, solo)):
            if viewer == event.seat:
                return ev.HiddenCall(None, solo) if solo else None
            return ev.HiddenCall(guard, None) if viewer == guard else None
        case _:
            return None


def _crowning_seen(hidden: ev.HiddenCrowning, emperor: int, viewer: int) -> ev.HiddenCrowning | None:
    if viewer == emperor:
        return ev.HiddenCrowning(hidden.cards, None, hidden.solo)
    return ev.HiddenCrowning((), hidden.guard, None) if viewer == hidden.guard else None


def mask(table: Table, viewer: Viewer) -> Table:
    """Return the table as the viewer may see it: what he may not know becomes HIDDEN, empty or None."""
    commitment = replace(table.commitment, seed="") if table.commitment else None
    if table.hand is None or not in_progress(table):
        return replace(table, commitment=commitment)
    return replace(table, commitment=commitment, seeds=("",) * len(table.seeds), hand=_mask_hand(table.hand, viewer))


def _mask_hand(hand: Hand, viewer: Viewer) -> Hand:
    return replace(
        hand,
        hands=tuple(cards if seat == viewer else _covered(cards) for seat, cards in enumerate(hand.hands)),
        answers=tuple(
            given if given is None or seat == viewer else Answer.HIDDEN for seat, given in enumerate(hand.answers)
        ),
        offer=_mask_offer(hand.offer, viewer) if hand.offer else None,
        tribute=tuple(_mask_payment(paid, viewer) for paid in hand.tribute),
        roles=_mask_roles(hand.roles, viewer),
    )


def _covered(cards: tuple[Card, ...]) -> tuple[Card, ...]:
    return (HIDDEN,) * len(cards)


def _mask_offer(offer: Offer, viewer: Viewer) -> Offer:
    pile = tuple(pasted if pasted.seat == viewer else replace(pasted, card=HIDDEN) for pasted in offer.pile)
    return replace(offer, pile=pile)


def _mask_payment(paid: Payment, viewer: Viewer) -> Payment:
    return paid if viewer in {paid.payer, paid.receiver} else replace(paid, cards=_covered(paid.cards))


def _mask_roles(roles: Roles, viewer: Viewer) -> Roles:
    """Leave the guard to himself and a hidden solo to the emperor, until they are public."""
    knows_guard = roles.public_guard is not None or viewer == roles.guard
    knows_solo = roles.public_solo or roles.solo is not Solo.HIDDEN or viewer == roles.emperor
    return replace(
        roles,
        guard=roles.guard if knows_guard else None,
        solo=roles.solo if knows_solo else None,
    )
