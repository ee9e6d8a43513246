"""A hand's record as data: its events, each with its version and moment; everything else follows from them."""

from dataclasses import dataclass, replace
from enum import Enum

from baohuang.rules.deal import SEATS
from baohuang.rules.events import Event, HandFinished, HandStarted, PlayerFined, TableDissolved
from baohuang.rules.redact import redact
from baohuang.rules.settlement import Solo
from baohuang.rules.state import Instant


class Variant(Enum):
    """What of the hand a record holds."""

    FULL = "full"
    """All of it, as it was decided."""
    PUBLIC = "public"
    """What everybody was shown: no card, answer or role before it was shown, by a play or at the hand's end."""


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """An event, its version in the table's stream and the moment it was decided at."""

    version: int
    at: Instant
    event: Event


@dataclass(frozen=True, slots=True)
class HandRecord:
    """A finished hand: from its HandStarted to its HandFinished, and the TableDissolved that follows from that."""

    variant: Variant
    events: tuple[RecordedEvent, ...]

    @property
    def started(self) -> HandStarted:
        """The first event, which carries the table in full. Raises ValueError if the first is another."""
        first = self.events[0].event
        if not isinstance(first, HandStarted):
            raise ValueError("a hand begins with HandStarted")  # noqa: TRY004 - about the record's content
        return first

    @property
    def finished(self) -> HandFinished:
        """The event that ends the hand. Raises ValueError if there is none."""
        for recorded in reversed(self.events):
            if isinstance(recorded.event, HandFinished):
                return recorded.event
        raise ValueError("a hand ends with HandFinished")


@dataclass(frozen=True, slots=True)
class HandResult:
    """How a hand ended, all of it by seat. It follows from the events; a record says it for whoever reads no events."""

    places: tuple[int, ...]
    """The seats in order; empty after a surrender, or if an operator voided the hand."""
    points: tuple[int, ...]
    emperor: int | None
    guard: int | None
    solo: Solo | None
    surrendered: bool
    void: bool
    doublings: tuple[str, ...]
    """What doubled the points, each as `CLAUSE reason`."""
    fines: tuple[int, ...]
    """Points fined during the hand, beside its points (FINE-4)."""
    dissolved: bool
    """Whether the table was dissolved with this hand (TRUST-4)."""


def result_of(record: HandRecord) -> HandResult:
    """Return how the hand ended. Raises ValueError for a hand that did not."""
    finished = record.finished
    return HandResult(
        places=finished.places,
        points=finished.points,
        emperor=finished.emperor,
        guard=finished.guard,
        solo=finished.solo,
        surrendered=finished.surrendered,
        void=finished.void,
        doublings=finished.doublings,
        fines=_fines(record),
        dissolved=isinstance(record.events[-1].event, TableDissolved),
    )


def _fines(record: HandRecord) -> tuple[int, ...]:
    fines = [0] * SEATS
    for recorded in record.events:
        if isinstance(recorded.event, PlayerFined):
            fines[recorded.event.seat] += recorded.event.points
    return tuple(fines)


def public(record: HandRecord) -> HandRecord:
    """Return the record with no more than everybody was shown (TABLE-2): each event as it was shown then.

    What a private table keeps of its invitation code is left out as well: it belongs to the table, not to the hand.
    """
    shown = tuple(
        replace(recorded, event=_uninviting(redact(recorded.event, None, hand_over=False)))
        for recorded in record.events
    )
    return HandRecord(Variant.PUBLIC, shown)


def _uninviting(event: Event) -> Event:
    return replace(event, invitation_digest="") if isinstance(event, HandStarted) else event
