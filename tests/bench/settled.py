"""A log of what golden tables settle, their hands and fines, without the play between: what the ledger follows."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from baohuang.eventlog.port import EventLog, NewEvent
from baohuang.stream.table_messages import SETTLING
from table_service.identifiers import new_table_id

from .golden_tables import PLAYER, Row, read_tables
from .recorded import append

COMPANIES: Final = 400
"""Of five players, each of whom plays at one table at a time. They come again in every log that has more tables."""
_AT_ONCE: Final = 200


@dataclass(frozen=True, slots=True)
class Settled:
    """How many events were appended from which points follow, and how many of them are finished hands."""

    events: int
    hands: int


async def settle(log: EventLog, copies: int) -> Settled:
    """Append what all golden tables settle, as so many times as many new tables, of changing players."""
    tables = list(_tables(copies))
    for first in range(0, len(tables), _AT_ONCE):
        some = tables[first : first + _AT_ONCE]
        await asyncio.gather(*(append(log, new_table_id(datetime.now(UTC)), events) for events in some))
    events = [event for events in tables for event in events]
    return Settled(len(events), sum(event.type == "HandFinished" for event in events))


def _tables(copies: int) -> Iterator[tuple[NewEvent, ...]]:
    settling = [rows for table in read_tables().values() if (rows := [row for row in table if row.type in SETTLING])]
    for place in range(copies * len(settling)):
        yield _played_by(place % COMPANIES, settling[place % len(settling)])


def _played_by(company: int, rows: Sequence[Row]) -> tuple[NewEvent, ...]:
    new_name = rf'"\1-{company}"'.encode()
    return tuple(NewEvent(row.type, PLAYER.sub(new_name, bytes(row.data))) for row in rows)
