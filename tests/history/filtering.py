"""What a reader must find, by filtering the whole log in Python."""

from collections.abc import Iterator, Sequence

import msgspec

from baohuang.audit.judgement import players_of
from baohuang.eventlog.codec import decode
from baohuang.eventlog.port import StoredEvent, StreamId
from baohuang.history.sought import EventsSought, Order, RulingsSought, StoredRuling
from baohuang.rules import events as ev
from baohuang.rules.state import PlayerId


def events_in(log: Sequence[StoredEvent], sought: EventsSought, order: Order) -> list[StoredEvent]:
    """Return all events of the log that meet every filter, in order."""
    found = [event for event in log if _is_sought(event, sought)]
    return found if order is Order.OLDEST_FIRST else found[::-1]


def rulings_in(log: Sequence[StoredEvent], sought: RulingsSought) -> list[StoredRuling]:
    """Return all rulings of the log that meet every filter, newest first."""
    return [ruling for ruling in _rulings(log) if _is_ruling_sought(ruling, sought)][::-1]


def _is_sought(event: StoredEvent, sought: EventsSought) -> bool:
    return (
        sought.stream_id in (None, event.stream_id)
        and (sought.player is None or sought.player in (event.actor, _data(event).get("player")))
        and (not sought.types or event.type in sought.types)
        and (not sought.rulings or ev.is_ruling(decode(event.type, event.data)))
        and _is_in_time(event, sought)
        and event.position > sought.after
    )


def _is_ruling_sought(ruling: StoredRuling, sought: RulingsSought) -> bool:
    return (
        sought.stream_id in (None, ruling.event.stream_id)
        and (sought.player is None or sought.player in ruling.players)
        and (not sought.kinds or ruling.event.type in sought.kinds)
        and sought.clause in (None, _data(ruling.event)["rule"])
        and _is_in_time(ruling.event, sought)
    )


def _is_in_time(event: StoredEvent, sought: EventsSought | RulingsSought) -> bool:
    return (
        (sought.since is None or event.recorded_at >= sought.since)
        and (sought.until is None or event.recorded_at < sought.until)
        and (sought.before is None or event.position < sought.before)
    )


def _data(event: StoredEvent) -> dict[str, object]:
    data: dict[str, object] = msgspec.json.decode(event.data)
    return data


def _rulings(log: Sequence[StoredEvent]) -> Iterator[StoredRuling]:
    players: dict[StreamId, tuple[PlayerId, ...]] = {}
    reversals = {
        (event.stream_id, _data(event)["reverses"]): event.version
        for event in log
        if event.type in ("FineReversed", "VoidReversed")
    }
    for stored in log:
        event = decode(stored.type, stored.data)
        if isinstance(event, ev.HandStarted):
            players[stored.stream_id] = event.players
        if ev.is_ruling(event):
            about = players_of(event, players.get(stored.stream_id, ()))
            yield StoredRuling(stored, about, reversals.get((stored.stream_id, stored.version)))
