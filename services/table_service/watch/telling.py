"""What goes to watchers, ready to be sent; an event is redacted, encoded and serialized once for each view of it."""

from typing import Any

from msgspec import Struct

from baohuang.eventlog.chain import digest_of, instant
from baohuang.gen.table.v1 import watch_pb2
from baohuang.rpc.event_messages import event_to_proto
from baohuang.rules.events import Event
from baohuang.rules.phases.asking import seats_to_act
from baohuang.rules.redact import redact
from baohuang.rules.state import PlayerId
from table_service.happened import Happened
from table_service.views import millis_left, viewer_seat


class Told(Struct, frozen=True, gc=False):
    """A serialized `WatchTableResponse`, and the version that it brings its reader to."""

    version: int
    message: bytes


class Telling:
    """One event for any number of watchers. Live and later alike: as it was shown when it happened."""

    __slots__ = ("_frame", "_happened", "_private", "_public")

    def __init__(self, happened: Happened) -> None:
        self._happened = happened
        self._frame: dict[str, Any] | None = None
        self._public: Told | None = None
        self._private: dict[int, Told] = {}

    @property
    def version(self) -> int:
        """The event's version."""
        return self._happened.stored.version

    @property
    def to_all(self) -> Told | None:
        """What everybody is told alike, None if that depends on who he is."""
        hides = getattr(self._happened.event, "hidden", None) is not None
        return None if hides else self._told_to_all(self._happened.event)

    def is_played_by(self, player: PlayerId) -> bool:
        """Tell whether the player plays the hand that was the last one when it happened."""
        return viewer_seat(self._happened.table, player) is not None

    def to(self, player: PlayerId) -> Told:
        """Return the event as that player may see it."""
        if told := self.to_all:
            return told
        seat = viewer_seat(self._happened.table, player)
        if seat in self._private:
            return self._private[seat]
        seen: Any = redact(self._happened.event, seat, hand_over=False)
        if seat is None or seen.hidden is None:
            return self._told_to_all(seen)
        return self._private.setdefault(seat, self._told(seen))

    def _told_to_all(self, event: Event) -> Told:
        """Return what everybody is told who may see nothing of what it hides: the same bytes for all of them."""
        if self._public is None:
            self._public = self._told(event)
        return self._public

    def _told(self, event: Event) -> Told:
        if self._frame is None:
            self._frame = _frame(self._happened)
        update = watch_pb2.Update(event=event_to_proto(event), **self._frame)
        return Told(self.version, watch_pb2.WatchTableResponse(update=update).SerializeToString())


def _frame(happened: Happened) -> dict[str, Any]:
    """Return what all views of an update have in common: everything but the event."""
    stored, hand = happened.stored, happened.table.hand
    return {
        "version": stored.version,
        "hash": stored.hash,
        "hidden_digest": digest_of(stored),
        "recorded_at": instant(stored.recorded_at),
        "actor": stored.actor,
        "type": stored.type,
        "seats_to_act": seats_to_act(hand) if hand else (),
        "millis_left": millis_left(happened.table, stored.recorded_at),
    }
