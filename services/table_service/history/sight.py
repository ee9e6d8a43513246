"""What a caller may see of the record by now: the one place that decides it for every method of HistoryService.

Of a hand that is not over nobody sees more than while it was played: `redact` with his seat, and for whoever does not
play it nothing that `spectator_delay` keeps back. A sight is of one moment, and what happens after it is not shown; so
events may be read before it is found out or after: what was of a hand that is played is open once it is over.
"""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from baohuang.eventlog.port import NO_VERSION, StreamId, Version
from baohuang.history.reader import HistoryReader
from baohuang.rules.events import Event
from baohuang.rules.redact import Viewer, redact
from baohuang.rules.state import PlayerId, TableId
from table_service.privacy import Visitor
from table_service.tables import Tables
from table_service.views import viewer_seat

PLAYERS_OWN: Final = "player:"
"""How the ids of players' own streams begin; no table's does."""
_END: Final = Version(2**31)
"""Later than any version."""


class Sight(Struct, frozen=True):
    """What one caller may see of one stream.

    Everything up to `open_until` is open; what is after `shown_until` is not shown yet; between them he has the sight
    of `seat`, of the hand that is played.
    """

    open_until: Version
    shown_until: Version
    seat: Viewer

    def shows(self, version: Version) -> bool:
        """Tell whether the event of a version is shown by now."""
        return version <= self.shown_until

    def opens(self, version: Version) -> bool:
        """Tell whether all of the event of a version is open, and with it the salt of its hash."""
        return version <= self.open_until

    def of(self, version: Version, event: Event) -> Event:
        """Return the event as he may see it."""
        return redact(event, self.seat, self.opens(version))


EVERYTHING: Final = Sight(open_until=_END, shown_until=_END, seat=None)
_OF_PLAYERS_OWN: Final = Sight(open_until=NO_VERSION, shown_until=_END, seat=None)


class Sights:
    """Finds out what a visitor may see of streams that he may know of."""

    def __init__(self, records: HistoryReader, tables: Tables) -> None:
        self._records = records
        self._tables = tables

    async def of(self, visitor: Visitor, latest: Mapping[StreamId, Version]) -> Mapping[StreamId, Sight]:
        """Return his sight of each stream, as of now, up to a version of it. Raises LogUnavailable, NotFound."""
        if visitor.trusted:
            return dict.fromkeys(latest, EVERYTHING)
        sights = {one: _OF_PLAYERS_OWN for one in latest if one.startswith(PLAYERS_OWN)}
        of_tables = [one for one in latest if one not in sights]
        closed = await self._records.closed_until(of_tables) if of_tables else {}
        for one in of_tables:
            sights[one] = await self._of_table(visitor.player, TableId(one), latest[one], closed[one])
        return sights

    async def of_one(self, visitor: Visitor, stream_id: StreamId) -> Sight:
        """Return his sight of one stream, all of it."""
        return (await self.of(visitor, {stream_id: _END}))[stream_id]

    async def _of_table(self, player: PlayerId, table_id: TableId, latest: Version, closed_until: Version) -> Sight:
        if latest <= closed_until:
            # Whatever is played there now: most of what is looked back at is of hands that are over.
            return Sight(closed_until, _END, None)
        held = await self._tables.current(table_id)
        seen = held.seen_by(player)
        return Sight(closed_until, seen.version, viewer_seat(held.table, player))
