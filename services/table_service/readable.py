"""Events of the log as this release reads them, to be decided on.

What it does not know a newer release wrote: an event of another type, a value or a key that its own events do not have,
a ruleset. A state folded without it would be a guess, so nothing is decided on such a table and nothing of it is shown:
the call is refused with NEWER_RELEASE, and a replica of the newer release serves it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import structlog

from baohuang.eventlog.json_codec import Codec, CodecError, Unknown
from baohuang.eventlog.port import StoredEvent
from baohuang.rpc.errors import Reason, Unavailable
from baohuang.rules.events import EVENT_TYPES, Event
from baohuang.rules.evolve import fold
from baohuang.rules.rulesets import OptionError, UnknownRulesetError
from baohuang.rules.state import Table

_decode: Final = Codec[Event](EVENT_TYPES, Unknown.REFUSED).decode
_log = structlog.get_logger("table_service")


def events_in(stored: Sequence[StoredEvent]) -> Sequence[Event]:
    """Return the events that were stored. Raises Unavailable (NEWER_RELEASE) if one of them cannot be read."""
    with _knowing(stored):
        return [_decode(event.type, event.data) for event in stored]


def table_after(stored: Sequence[StoredEvent]) -> Table | None:
    """Return the table as the events leave it, the first being a HandStarted or TableOpened; None without any.

    Raises Unavailable (NEWER_RELEASE) if one of them cannot be read, or what it says is not known.
    """
    events = events_in(stored)
    with _knowing(stored):
        return fold(events)


@contextmanager
def _knowing(stored: Sequence[StoredEvent]) -> Iterator[None]:
    """Refuse what this release does not know."""
    try:
        yield
    except (CodecError, UnknownRulesetError, OptionError) as error:
        last = stored[-1]
        _log.warning(
            "newer release wrote this", table_id=last.stream_id, version=last.version, kind=type(error).__name__
        )
        raise Unavailable(
            Reason.NEWER_RELEASE, "a newer release wrote what this replica does not know: connect again and retry"
        ) from error
