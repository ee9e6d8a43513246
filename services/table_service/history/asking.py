"""Who may ask for what of the record (HistoryService's permissions)."""

from baohuang.eventlog.port import EventReader, StreamId
from baohuang.rpc.auth import caller_id
from baohuang.rpc.roles import check_own
from baohuang.rules.state import TableId
from table_service import api
from table_service.history.sight import PLAYERS_OWN
from table_service.privacy import Visitor, check_admitted
from table_service.refusing import no_such_table
from table_service.tables import Tables


def stream_in(text: str) -> StreamId:
    """Return the stream of a table, or of a player. Raises NotFound for a text that no stream can have as its id."""
    if text.startswith(PLAYERS_OWN):
        if caller_id(text.removeprefix(PLAYERS_OWN)) is None:
            raise no_such_table(TableId(text))
        return StreamId(text)
    return StreamId(api.table_id_in(text))


class Doors:
    """Lets those in to a stream's record who may know of it."""

    def __init__(self, log: EventReader, tables: Tables) -> None:
        self._log = log
        self._tables = tables

    async def check(self, visitor: Visitor, stream_id: StreamId) -> None:
        """Raise PermissionDenied for another player's stream; NotFound for a table that is not there, or not his.

        Operators and services are let in to a damaged record as well: it is theirs to look into. Raises LogUnavailable.
        """
        if stream_id.startswith(PLAYERS_OWN):
            check_own(stream_id.removeprefix(PLAYERS_OWN), "what is recorded of himself")
        elif visitor.trusted:
            await self.check_there(stream_id)
        else:
            held = await self._tables.current(TableId(stream_id))
            if held.table is not None:
                check_admitted(held.table, visitor)

    async def check_there(self, stream_id: StreamId) -> None:
        """Raise NotFound for a stream of which there is nothing, not even a part. Raises LogUnavailable."""
        if await self._log.head(stream_id) is None and not await self._log.read_stream(stream_id, limit=1):
            raise no_such_table(TableId(stream_id))

    async def check_listing(self, visitor: Visitor, stream_id: StreamId | None, player: str | None) -> None:
        """Raise as `check` does; without a stream a player may list what is of himself, wherever it was.

        Raises PermissionDenied, NotFound, LogUnavailable.
        """
        if stream_id is None:
            check_own(player, "what is recorded at a table, or of himself")
        else:
            await self.check(visitor, stream_id)
