"""Streams of tables: who may open one, whose it takes over, and its messages one after the other."""

from collections.abc import Awaitable, Callable
from datetime import datetime

from baohuang.rpc.errors import MalformedInput
from baohuang.rules.state import PlayerId, TableId, seat_of
from table_service.neighbours import Neighbours
from table_service.privacy import Visitor, check_admitted
from table_service.tables import HeldTable, Tables
from table_service.views import viewer_seat
from table_service.watch.hub import Hub
from table_service.watch.lines import Lines
from table_service.watch.reader import Reader
from table_service.watch.subscription import Cut
from table_service.watch.telling import Told

Write = Callable[[Told], Awaitable[None]]
"""Writes a message of a table's stream; done when its reader has room for another one."""


class Watching:
    """Opens streams of tables."""

    def __init__(
        self, tables: Tables, hub: Hub, lines: Lines, neighbours: Neighbours, now: Callable[[], datetime]
    ) -> None:
        self._tables = tables
        self._hub = hub
        self._lines = lines
        self._neighbours = neighbours
        self._now = now

    async def check(self, table_id: TableId, visitor: Visitor, after_version: int) -> None:
        """Raise the Refusal with which `watch` would begin: NotFound, MalformedInput."""
        _check(await self._tables.current(table_id), visitor, after_version)

    async def watch(self, table_id: TableId, visitor: Visitor, after_version: int, cut: Cut, write: Write) -> None:
        """Write the table's stream as the visitor may see it, to its end; versions are contiguous.

        Whoever has a seat at the table takes over his older streams of it. `cut` is called when what was written is not
        taken in for too long; it has to cancel this. Ends after a Reconnect or TakenOver.

        Raises Refusal: NotFound, MalformedInput (a version the table has not reached), Exhausted (SLOW_READER).
        """
        held, player = await self._tables.current(table_id), visitor.player
        _check(held, visitor, after_version)
        with self._hub.subscribe(table_id, player, cut) as subscription:
            if _has_seat(held, player):
                self._hub.take_over(subscription)
                self._neighbours.watching(table_id, player, subscription.watch_id)
            with self._lines.carried_by(subscription):
                reader = Reader(self._tables, self._hub.recent, self._now, subscription)
                told = await reader.begin(held, after_version)
                # Written from here and not yielded through generators: every update to everybody passes here.
                while told:
                    for one in told:
                        await write(one)
                        subscription.progress()
                    told = await reader.next()


def _check(held: HeldTable, visitor: Visitor, after_version: int) -> None:
    if held.table is not None:
        check_admitted(held.table, visitor)
    version = held.seen_by(visitor.player).version
    if after_version > version:
        raise MalformedInput.field("after_version", f"the table is at version {version}")


def _has_seat(held: HeldTable, player: PlayerId) -> bool:
    """Tell whether the player sits at the table or plays its hand."""
    table = held.whole.table
    return seat_of(table, player) is not None or viewer_seat(table, player) is not None
