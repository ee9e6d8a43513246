"""Following a table: snapshot and updates in, states out, each link of the chain checked. Pure."""

from dataclasses import dataclass, replace

from baohuang.client.errors import ViewBrokenError
from baohuang.client.updates import Update, View, public_part
from baohuang.eventlog.chain import ChainBroken, Tip, follow
from baohuang.eventlog.port import StreamId, Version
from baohuang.rules.evolve import evolve
from baohuang.rules.phases.asking import seats_to_act
from baohuang.rules.state import Table
from baohuang.scoring.events import Booked


@dataclass(frozen=True, slots=True)
class Moment:
    """A table as the viewer may see it at one version, and the update that brought it there.

    `update` is None for a snapshot: at the start, and when more was missed than the service tells one by one.
    With `posted` it is a notice instead: nothing has become of the table, and version and all else are as they were.
    """

    table: Table
    version: Version
    hash: bytes
    update: Update | None = None
    millis_left: int | None = None
    """Milliseconds that whoever has to act had left when it was sent; None where no clock runs, or none that the
    viewer may know of."""
    posted: Booked | None = None
    """What the ledger has of a hand or a fine at this table, or of one that was taken back, told once it is booked.

    It may be missed.
    """

    @property
    def to_act(self) -> tuple[int, ...]:
        """The seats that have to act now, ascending."""
        return seats_to_act(self.table.hand) if self.table.hand else ()


def beginning(view: View) -> Moment:
    """Return the moment that a snapshot shows."""
    return Moment(view.table, view.version, view.hash, millis_left=view.millis_left)


def rejoined(known: Moment, view: View) -> Moment | None:
    """Return the moment to go on from after a snapshot in mid-stream; None if it shows nothing new.

    Raises ViewBrokenError if the table went back, or has another hash at the version known.
    """
    if view.version > known.version:
        return beginning(view)
    if (view.version, view.hash) == (known.version, known.hash):
        return None
    raise ViewBrokenError(f"a snapshot of version {view.version} does not fit version {known.version}, seen before")


def advanced(known: Moment, update: Update) -> Moment:
    """Return the moment after the update.

    Raises ViewBrokenError unless it is the next one and continues the chain from what was seen.
    """
    table_id = known.table.table_id
    try:
        tip = follow(Tip(StreamId(table_id), known.version, known.hash), public_part(table_id, update))
    except ChainBroken as broken:
        raise ViewBrokenError(str(broken)) from broken
    table = evolve(known.table, update.event)
    return Moment(table, tip.version, tip.hash, update, update.millis_left)


def noticed(known: Moment, posted: Booked) -> Moment:
    """Return the moment known with what was posted beside its version."""
    return replace(known, update=None, posted=posted)
