"""What happened at a table: its events as they were stored, each with the table as it left it."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from baohuang.eventlog.port import StoredEvent
from baohuang.rules.events import Event
from baohuang.rules.evolve import states
from baohuang.rules.state import Table
from table_service.readable import events_in


class Happened(Struct, frozen=True):
    """An event of a table as it was stored, decoded, and the table as it left it."""

    stored: StoredEvent
    event: Event
    table: Table


def replay(
    table: Table | None, stored: Sequence[StoredEvent], events: Sequence[Event], tables: Sequence[Table] = ()
) -> Iterable[Happened]:
    """Yield each event with the table as it left it; `tables` are these, where they are known already."""
    return map(Happened, stored, events, tables or states(events, table))


def replay_stored(stored: Sequence[StoredEvent]) -> Sequence[Happened]:
    """Return what happened from a HandStarted or TableOpened on, which needs no table before it.

    Raises Unavailable (NEWER_RELEASE).
    """
    return list(replay(None, stored, events_in(stored)))
