"""TableService: from stub to handler and back."""

from collections.abc import AsyncIterator
from typing import Any, TypeVar

import grpc

from baohuang.eventlog.port import EventLog, EventLogError
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.gen.table.v1 import table_service_pb2_grpc, watch_pb2
from baohuang.rpc.auth import Role
from baohuang.rpc.call import current_call
from baohuang.rpc.errors import Reason, Unavailable
from baohuang.rpc.roles import require
from table_service import api
from table_service.bans import Bans
from table_service.clock import DatabaseClock
from table_service.handler import CommandHandler
from table_service.opening import open_tables
from table_service.playing.session import Playing
from table_service.privacy import check_admitted
from table_service.tables import Tables
from table_service.views import view_of
from table_service.watch.stream import Watching

Context = grpc.aio.ServicerContext[Any, Any]
_Response = TypeVar(
    "_Response",
    pb.SitDownResponse,
    pb.StandUpResponse,
    pb.SetReadyResponse,
    pb.ActResponse,
    pb.SetTrusteeshipResponse,
    pb.LeaveTableResponse,
    pb.ForfeitSeatResponse,
    pb.KickPlayerResponse,
    pb.CloseTableResponse,
    pb.VoidHandResponse,
)
"""What an accepted command is answered with: all alike."""


class TableServicer(table_service_pb2_grpc.TableServiceServicer):
    """Serves the contract; see `baohuang/table/v1/table_service.proto` for what each call promises."""

    def __init__(
        self,
        log: EventLog,
        tables: Tables,
        clock: DatabaseClock,
        *,
        handler: CommandHandler,
        watching: Watching,
        playing: Playing,
    ) -> None:
        self._log = log
        self._tables = tables
        self._handler = handler
        self._watching = watching
        self._playing = playing
        self._clock = clock
        self._bans = Bans(log, clock)

    async def OpenTable(self, request: pb.OpenTableRequest, context: Context) -> pb.OpenTableResponse:
        """Open a table; a retry finds the table that was opened first."""
        done = await self._handler.handle(api.request_in(request, self._clock.now))
        try:
            opened = await self._tables.at(done.table_id, done.version)
        except EventLogError as error:
            raise _unavailable() from error
        view = view_of(opened, api.caller(), self._clock.now())
        return pb.OpenTableResponse(table_id=done.table_id, version=done.version, hash=done.hash, table=view)

    @require(Role.SERVICE)
    async def OpenTables(self, request: pb.OpenTablesRequest, context: Context) -> pb.OpenTablesResponse:
        """Open tables; for services."""
        answers = await open_tables(self._handler, self._clock, request.requests)
        return pb.OpenTablesResponse(answers=map(api.opening_answer, answers))

    async def GetTable(self, request: pb.GetTableRequest, context: Context) -> pb.GetTableResponse:
        """Return the table as the log has it now."""
        table_id = api.table_id_in(request.table_id)
        try:
            held = await self._tables.current(table_id)
        except EventLogError as error:
            raise _unavailable() from error
        if held.table is not None:
            check_admitted(held.table, api.visitor(request.invitation_code))
        return pb.GetTableResponse(table=view_of(held, api.caller(), self._clock.now()))

    async def ListTables(self, request: pb.ListTablesRequest, context: Context) -> pb.ListTablesResponse:
        """Return a page of tables."""
        where, after, size = api.listing(request)
        try:
            heads = await self._log.list_heads(where, after, size + 1)
        except EventLogError as error:
            raise _unavailable() from error
        page = heads[:size]
        token = page[-1].stream_id if len(heads) > size else ""
        return pb.ListTablesResponse(tables=map(api.summary_message, page), next_page_token=token)

    async def SitDown(self, request: pb.SitDownRequest, context: Context) -> pb.SitDownResponse:
        """Sit the caller down."""
        return await self._carry_out(request, pb.SitDownResponse)

    async def StandUp(self, request: pb.StandUpRequest, context: Context) -> pb.StandUpResponse:
        """Take the caller off his seat."""
        return await self._carry_out(request, pb.StandUpResponse)

    async def SetReady(self, request: pb.SetReadyRequest, context: Context) -> pb.SetReadyResponse:
        """Set the caller's readiness."""
        return await self._carry_out(request, pb.SetReadyResponse)

    async def Act(self, request: pb.ActRequest, context: Context) -> pb.ActResponse:
        """Make the caller's move."""
        return await self._carry_out(request, pb.ActResponse)

    async def SetTrusteeship(self, request: pb.SetTrusteeshipRequest, context: Context) -> pb.SetTrusteeshipResponse:
        """Give the caller's seat to the trustee, or take it back."""
        return await self._carry_out(request, pb.SetTrusteeshipResponse)

    async def LeaveTable(self, request: pb.LeaveTableRequest, context: Context) -> pb.LeaveTableResponse:
        """Let the caller leave during a hand."""
        return await self._carry_out(request, pb.LeaveTableResponse)

    async def ForfeitSeat(self, request: pb.ForfeitSeatRequest, context: Context) -> pb.ForfeitSeatResponse:
        """Take the seat the caller gives up, and fine him."""
        return await self._carry_out(request, pb.ForfeitSeatResponse)

    @require(Role.OPERATOR)
    async def KickPlayer(self, request: pb.KickPlayerRequest, context: Context) -> pb.KickPlayerResponse:
        """Take a seat from its player, and fine him; for operators."""
        return await self._carry_out(request, pb.KickPlayerResponse)

    @require(Role.OPERATOR)
    async def CloseTable(self, request: pb.CloseTableRequest, context: Context) -> pb.CloseTableResponse:
        """Close a table for good; for operators."""
        return await self._carry_out(request, pb.CloseTableResponse)

    @require(Role.OPERATOR)
    async def VoidHand(self, request: pb.VoidHandRequest, context: Context) -> pb.VoidHandResponse:
        """End the hand, which is not scored; for operators."""
        return await self._carry_out(request, pb.VoidHandResponse)

    @require(Role.OPERATOR)
    async def SetBan(self, request: pb.SetBanRequest, context: Context) -> pb.SetBanResponse:
        """Ban a player or lift his ban; for operators."""
        done = await self._bans.set_ban(api.ban_request_in(request))
        return pb.SetBanResponse(player=request.player, version=done.version, hash=done.hash)

    async def WatchTable(self, request: watch_pb2.WatchTableRequest, context: Context) -> None:  # type: ignore[override] # writes the stream itself
        """Stream the table as the caller may see it."""
        table_id = api.table_id_in(request.table_id)
        visitor = api.visitor(request.invitation_code)
        after_version, cut = api.after_version_in(request), current_call().cut
        try:
            # The messages are serialized already, once for all watchers.
            await self._watching.watch(table_id, visitor, after_version, cut, lambda told: context.write(told.message))
        except EventLogError as error:
            raise _unavailable() from error

    async def Play(self, request_iterator: AsyncIterator[pb.PlayRequest], context: Context) -> None:  # type: ignore[override] # as above
        """Carry out the commands of one stream, and stream the tables it watches."""
        await self._playing.play(request_iterator, context.write)

    async def _carry_out(self, request: api.CommandRequest, response: type[_Response]) -> _Response:
        done = await self._handler.handle(api.request_in(request, self._clock.now))
        return response(table_id=done.table_id, version=done.version, hash=done.hash)


def _unavailable() -> Unavailable:
    return Unavailable(Reason.LOG_UNAVAILABLE, "the event log did not answer: retry")
