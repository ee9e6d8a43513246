"""Whether a finished hand's deals and points follow from what else its record says."""

from typing import Final

from baohuang.handrecord.malformed import MalformedRecord
from baohuang.handrecord.record import HandRecord
from baohuang.rules.cards import Card
from baohuang.rules.deal import SEATS, SEED_BYTES, commitment_to, dealt, shuffled
from baohuang.rules.events import CardsDealt, HandFinished, HandStarted, SeedCommitted
from baohuang.rules.settlement import doublings, settle
from baohuang.rules.state import ALL_SEATS, Hand, Table, outcome_of

_NO_POINTS: Final = (0,) * SEATS


def check_deals(record: HandRecord, end: Table) -> None:
    """FAIR-1: each opened seed is the one committed to, and deals the cards that were dealt. Raises MalformedRecord.

    A public record does not show the cards that were dealt, only how many.
    """
    seeds = record.finished.seeds
    commitments = [
        (number, one.event)
        for number, one in enumerate(record.events)
        if isinstance(one.event, HandStarted | SeedCommitted)
    ]
    deals = [(number, one.event) for number, one in enumerate(record.events) if isinstance(one.event, CardsDealt)]
    if not len(seeds) == len(commitments) == len(deals):
        why = f"{len(commitments)} commitments, {len(deals)} deals, {len(seeds)} seeds opened (FAIR-1)"
        raise MalformedRecord(f"{_end(record)}.seeds", why)
    for place, (seed, (committed_at, committed), (dealt_at, deal)) in enumerate(
        zip(seeds, commitments, deals, strict=True)
    ):
        opened = _seed(f"{_end(record)}.seeds[{place}]", seed)
        _check_commitment(f"events[{committed_at}].data", committed, opened)
        _check_deal(f"events[{dealt_at}].data", deal, shuffled(end.ruleset.deck, opened, record.started.entropy))


def _seed(where: str, seed: str) -> bytes:
    try:
        opened = bytes.fromhex(seed)
    except ValueError:
        opened = b""
    if len(opened) != SEED_BYTES or opened.hex() != seed:
        raise MalformedRecord(where, f"must be {SEED_BYTES} bytes, in lower-case hex")
    return opened


def _check_commitment(where: str, committed: HandStarted | SeedCommitted, opened: bytes) -> None:
    if committed.commitment != commitment_to(opened):
        raise MalformedRecord(f"{where}.commitment", "is not that of the seed opened at the end (FAIR-1)")
    if committed.hidden is not None and committed.hidden.seed != opened.hex():
        raise MalformedRecord(f"{where}.hidden.seed", "is not the seed opened at the end (FAIR-1)")


def _check_deal(where: str, deal: CardsDealt, cards: tuple[Card, ...]) -> None:
    hands = dealt(cards, deal.dealer)
    if deal.sizes != tuple(map(len, hands)):
        raise MalformedRecord(f"{where}.sizes", "are not those of the deck (DEAL-1)")
    shown = {held.seat: held.cards for held in deal.hidden.hands} if deal.hidden else dict(enumerate(hands))
    if shown != dict(enumerate(hands)):
        raise MalformedRecord(f"{where}.hidden.hands", "are not those that the seed deals (FAIR-1)")


def check_points(record: HandRecord, end: Table) -> None:
    """Section 5: the points are those of the outcome; none after a void hand. Raises MalformedRecord."""
    finished, hand = record.finished, end.hand
    if hand is None:
        raise MalformedRecord(_end(record), "there is no hand to end")
    _check_outcome(record, finished, hand)
    try:
        outcome = None if finished.void else outcome_of(hand, finished.places)
        points = _NO_POINTS if outcome is None else settle(end.ruleset, outcome)
        doubled = () if outcome is None else doublings(end.ruleset, outcome)
    except ValueError as error:
        raise MalformedRecord(_end(record), str(error)) from error
    if finished.points != points:
        raise MalformedRecord(f"{_end(record)}.points", f"are {finished.points}, the outcome gives {points}")
    if finished.doublings != doubled:
        raise MalformedRecord(f"{_end(record)}.doublings", f"are {finished.doublings}, the outcome gives {doubled}")


def _check_outcome(record: HandRecord, finished: HandFinished, hand: Hand) -> None:
    if finished.emperor != hand.roles.emperor:
        raise MalformedRecord(f"{_end(record)}.emperor", f"is {finished.emperor}, the hand has {hand.roles.emperor}")
    empty = finished.surrendered or (finished.void and not finished.places)
    if sorted(finished.places) != ([] if empty else list(ALL_SEATS)):
        raise MalformedRecord(f"{_end(record)}.places", "must be all five seats, or none where nobody went out")


def _end(record: HandRecord) -> str:
    """Return the place of the event that ends the hand."""
    last = max(number for number, one in enumerate(record.events) if isinstance(one.event, HandFinished))
    return f"events[{last}].data"
