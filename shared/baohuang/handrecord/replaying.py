"""A hand replayed: the table as each event left it, whole or as a seat or the public saw it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from baohuang.handrecord.malformed import MalformedRecord
from baohuang.handrecord.record import HandRecord, RecordedEvent
from baohuang.rules.evolve import evolve
from baohuang.rules.redact import Viewer, mask, redact
from baohuang.rules.state import Table


@dataclass(frozen=True, slots=True)
class Step:
    """One event of a hand, and the table after it."""

    recorded: RecordedEvent
    table: Table


def replay(record: HandRecord) -> tuple[Step, ...]:
    """Return the hand step by step, with all that the record holds. Raises MalformedRecord where it cannot go on."""
    steps: list[Step] = []
    table: Table | None = None
    for number, recorded in enumerate(record.events):
        try:
            table = evolve(table, recorded.event)
        except ValueError as error:
            raise MalformedRecord(f"events[{number}].data", str(error)) from error
        steps.append(Step(recorded, table))
    return tuple(steps)


def as_seen_by(viewer: Viewer, steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return the steps as a seat (or with None the public) was shown them as they happened (TABLE-2)."""
    return tuple(
        Step(
            replace(step.recorded, event=redact(step.recorded.event, viewer, hand_over=False)), mask(step.table, viewer)
        )
        for step in steps
    )
