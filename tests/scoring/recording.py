"""A log with tables whose hands are finished, without the play before: what the ledger follows."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from baohuang.eventlog.codec import encode
from baohuang.eventlog.port import (
    NO_HASH,
    NO_VERSION,
    Actor,
    Append,
    Appended,
    EventLog,
    NewEvent,
    RequestId,
    StreamId,
)
from baohuang.rules.events import Event, HandFinished, PlayerStood
from baohuang.rules.state import PlayerId
from bench.random_player import chance_of
from scoring.hands import some_hands
from scoring_service.settling import Settles

START = datetime(2026, 11, 30, 8, 5, 9, 123, tzinfo=UTC)
TABLES = tuple(f"01234567-89ab-7def-8123-45678901234{n}" for n in range(4))


@dataclass(slots=True)
class Recorder:
    """Appends to a log what happens at its tables, an hour apart."""

    log: EventLog
    now: datetime = START
    step: timedelta = timedelta(hours=1)
    _ends: dict[str, Appended] = field(default_factory=dict)
    _hands: dict[str, int] = field(default_factory=dict)

    async def record(self, event: Settles, table_id: str = TABLES[0]) -> Appended:
        """Append an event at a table, after another from which no points follow; hands get the table's next number."""
        if isinstance(event, HandFinished):
            self._hands[table_id] = self._hands.get(table_id, 0) + 1
            event = replace(event, hand=self._hands[table_id])
        return await self.append(table_id, (PlayerStood(0, PlayerId("somebody")), event))

    async def append(self, table_id: str, events: Sequence[Event]) -> Appended:
        """Append events at a table."""
        self.now += self.step
        return await self.append_raw(table_id, [NewEvent(*encode(event)) for event in events])

    async def append_raw(self, table_id: str, events: Sequence[NewEvent]) -> Appended:
        """Append events of whatever form at a table."""
        end = self._ends.get(table_id)
        outcome = await self.log.append(
            Append(
                StreamId(table_id),
                end.version if end else NO_VERSION,
                end.hash if end else NO_HASH,
                tuple(events),
                Actor("service"),
                RequestId(f"{table_id}/{end.version if end else 0}"),
                sha256().digest(),
                self.now,
                b"{}",
            )
        )
        assert isinstance(outcome, Appended), outcome
        self._ends[table_id] = outcome
        return outcome

    async def record_some(self, count: int, seed: int = 1) -> None:
        """Record hands of changing players at changing tables, some void, with fines between them."""
        dice = chance_of("settling", seed)
        for event in some_hands(count, seed):
            await self.record(event, dice.choice(TABLES))
