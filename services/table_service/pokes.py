"""Pokes between the replicas of the table service, over core NATS: "look at the log", never what stands in it."""

from collections.abc import Callable
from dataclasses import dataclass

from baohuang.eventlog.port import Version
from baohuang.rules.state import PlayerId, TableId
from baohuang.stream import subjects
from baohuang.stream.link import Link


@dataclass(frozen=True, slots=True)
class Ears:
    """Who is told what other replicas said."""

    appended: Callable[[TableId, Version], None]
    taken: Callable[[TableId, PlayerId, str], None]


class Pokes:
    """The `Neighbours` of a replica, between entering and leaving `link`."""

    def __init__(self, url: str, name: str, ears: Ears) -> None:
        self._ears = ears
        listeners = {subjects.ALL_TABLES: self._hear_table, subjects.ALL_SEATS: self._hear_seat}
        self.link = Link(url, name, listeners)

    def appended(self, table_id: TableId, version: Version) -> None:
        """See `Neighbours.appended`."""
        self.link.publish(subjects.table_subject(table_id), subjects.encode(subjects.TablePoke(version)))

    def watching(self, table_id: TableId, player: PlayerId, stream: str) -> None:
        """See `Neighbours.watching`."""
        self.link.publish(subjects.seat_subject(table_id), subjects.encode(subjects.SeatPoke(player, stream)))

    def _hear_table(self, subject: str, payload: bytes) -> None:
        if poke := subjects.table_poke(payload):
            self._ears.appended(subjects.table_id_of(subject), poke.version)

    def _hear_seat(self, subject: str, payload: bytes) -> None:
        if poke := subjects.seat_poke(payload):
            self._ears.taken(subjects.table_id_of(subject), poke.player, poke.stream)
