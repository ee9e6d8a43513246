"""What a replica of the table service says and hears over core NATS.

Pokes between replicas ("look at the log", never what stands in it), and postings of the ledger as they are published.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from baohuang.eventlog.port import Version
from baohuang.rules.state import PlayerId, TableId
from baohuang.stream import subjects
from baohuang.stream.address import NatsAddress
from baohuang.stream.link import Link
from baohuang.stream.streams import SCORING_STREAM
from table_service.neighbours import Neighbours, NoNeighbours


@dataclass(frozen=True, slots=True)
class OnNats:
    """Where NATS is, by its address or its URL, and what this replica is called there."""

    nats: NatsAddress | str = field(repr=False)
    name: str


@dataclass(frozen=True, slots=True)
class Ears:
    """Who is told what other replicas said, and what was posted at a table: the body of the ledger's message."""

    appended: Callable[[TableId, Version], None]
    watching: Callable[[TableId, PlayerId, str], None]
    posted: Callable[[TableId, bytes], None]


@asynccontextmanager
async def neighbours(place: OnNats | None, ears: Ears) -> AsyncIterator[Neighbours]:
    """Give those that are reached over NATS, whether it is there or not; without an address nobody."""
    if place is None:
        yield NoNeighbours()
        return
    pokes = Pokes(place, ears)
    async with pokes.link:
        yield pokes


class Pokes:
    """The `Neighbours` of a replica; to be used while its `link` is entered."""

    def __init__(self, place: OnNats, ears: Ears) -> None:
        self._ears = ears
        heard = {
            subjects.ALL_TABLES: self._hear_table,
            subjects.ALL_SEATS: self._hear_seat,
            SCORING_STREAM.all_subjects: self._hear_posting,
        }
        self.link = Link(place.nats, place.name, heard)

    def appended(self, table_id: TableId, version: Version) -> None:
        """See `Neighbours.appended`."""
        self.link.publish(subjects.table_subject(table_id), subjects.encode(subjects.TablePoke(version)))

    def watching(self, table_id: TableId, player: PlayerId, stream: str) -> None:
        """See `Neighbours.watching`."""
        self.link.publish(subjects.seat_subject(table_id), subjects.encode(subjects.SeatPoke(player, stream)))

    def _hear_table(self, subject: str, payload: bytes) -> None:
        if poke := subjects.table_poke(payload):
            self._ears.appended(subjects.table_id_of(subject), poke.version)

    def _hear_posting(self, subject: str, payload: bytes) -> None:
        self._ears.posted(TableId(SCORING_STREAM.table_id_of(subject)), payload)

    def _hear_seat(self, subject: str, payload: bytes) -> None:
        if poke := subjects.seat_poke(payload):
            self._ears.watching(subjects.table_id_of(subject), poke.player, poke.stream)
