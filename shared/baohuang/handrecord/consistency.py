"""Whether a finished hand's deals and points follow from what else its record says."""

from typing import Final

from baohuang.audit.deals import DealAudit
from baohuang.handrecord.malformed import MalformedRecord
from baohuang.handrecord.record import HandRecord
from baohuang.rules.deal import SEATS
from baohuang.rules.events import HandFinished, HandStarted, HiddenSeed, SeedCommitted
from baohuang.rules.settlement import doublings, settle
from baohuang.rules.state import ALL_SEATS, Hand, Table, outcome_of

_NO_POINTS: Final = (0,) * SEATS


def check_deals(record: HandRecord) -> None:
    """FAIR-1, DEAL-1: each opened seed is the one committed to, and deals the cards. Raises MalformedRecord.

    A public record does not show the cards that were dealt, only how many.
    """
    audit, first = DealAudit(), record.events[0].version
    for recorded in record.events:
        for wrong in audit.take(recorded.version, recorded.event):
            raise MalformedRecord(f"events[{wrong.version - first}].data", f"{wrong.message} ({wrong.clause})")
    _check_seeds(record)


def _check_seeds(record: HandRecord) -> None:
    """Check that the seeds kept hidden until the end are those that were opened then."""
    opened = iter(record.finished.seeds)
    for number, recorded in enumerate(record.events):
        match recorded.event:
            case HandStarted(hidden=HiddenSeed(seed)) | SeedCommitted(hidden=HiddenSeed(seed)):
                if seed != next(opened, None):
                    raise MalformedRecord(f"events[{number}].data.hidden.seed", "is not what was opened (FAIR-1)")


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
