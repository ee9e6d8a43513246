"""One player's client of the table service."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import grpc

from baohuang.client.calls import Calls, channel_to
from baohuang.client.commands import Commands, Receipt, Request, fresh_id, receipt_of
from baohuang.client.following import Moment
from baohuang.client.patience import Patience
from baohuang.client.playing import Playing
from baohuang.client.reading import Stream
from baohuang.client.requests import made
from baohuang.client.updates import View, view_in
from baohuang.client.watching import Watch
from baohuang.eventlog.port import RequestId
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.gen.table.v1 import table_service_pb2_grpc, table_view_pb2, watch_pb2
from baohuang.rpc.credentials import Credentials
from baohuang.rpc.messages import from_proto
from baohuang.rules.rulesets import Options
from baohuang.rules.state import PlayerId, TableId, TableStatus
from baohuang.tls.files import Tls


@dataclass(frozen=True, slots=True)
class Summary:
    """A table at a glance, as listings show it."""

    table_id: TableId
    version: int
    ruleset: str
    options: Options
    players: tuple[PlayerId, ...]
    """By seat; empty text for an empty seat."""
    hands_played: int
    hand_in_progress: bool


class TableClient(Commands):
    """Tables as one player reaches them, by a call for each command; `play` gives a way with less to it."""

    def __init__(self, channel: grpc.aio.Channel, credentials: Credentials, patience: Patience | None = None) -> None:
        self._stub = table_service_pb2_grpc.TableServiceStub(channel)
        self._calls = Calls(credentials, patience)

    async def get_table(self, table_id: TableId, *, invitation_code: str = "") -> View:
        """Return the table as the caller may see it now; a private one of others with its code."""
        request = made(pb.GetTableRequest, table_id=table_id, invitation_code=invitation_code)
        return view_in((await self._calls.make(self._stub.GetTable, request)).table)

    async def list_tables(
        self,
        *,
        ruleset: str = "",
        status: TableStatus | None = None,
        player: str = "",
        free_seat: bool = False,
        bots: bool = False,
    ) -> AsyncIterator[Summary]:
        """Yield the tables that meet every filter given, newest first, page after page."""
        request = made(pb.ListTablesRequest, ruleset=ruleset, player=player, free_seat=free_seat, bots=bots)
        if status is not None:
            request.status = table_view_pb2.TableStatus.Value(status.value)
        async for page in self._calls.pages(self._stub.ListTables, request):
            for table in page.tables:
                yield from_proto(table, Summary)

    async def kick_player(self, table_id: TableId, seat: int, *, request_id: RequestId | None = None) -> Receipt:
        """Take a seat from its player, who is fined; for operators (FINE-2)."""
        request = made(pb.KickPlayerRequest, request_id=request_id or fresh_id(), table_id=table_id, seat=seat)
        return receipt_of(await self._calls.make(self._stub.KickPlayer, request))

    async def void_hand(self, table_id: TableId, reason: str, *, request_id: RequestId | None = None) -> Receipt:
        """End the hand without points, for a reason of 1 to 200 characters; for operators (RULE-1)."""
        request = made(pb.VoidHandRequest, request_id=request_id or fresh_id(), table_id=table_id, reason=reason)
        return receipt_of(await self._calls.make(self._stub.VoidHand, request))

    async def close_table(self, table_id: TableId, reason: str, *, request_id: RequestId | None = None) -> Receipt:
        """Close the table for good, for a reason of 1 to 200 characters; for operators (RULE-1)."""
        request = made(pb.CloseTableRequest, request_id=request_id or fresh_id(), table_id=table_id, reason=reason)
        return receipt_of(await self._calls.make(self._stub.CloseTable, request))

    async def set_ban(
        self, player: PlayerId, reason: str, *, banned: bool, request_id: RequestId | None = None
    ) -> None:
        """Ban a player or lift his ban, for a reason of 1 to 200 characters; for operators (RULE-1)."""
        request = made(
            pb.SetBanRequest, request_id=request_id or fresh_id(), player=player, banned=banned, reason=reason
        )
        await self._calls.make(self._stub.SetBan, request)

    @asynccontextmanager
    async def play(self) -> AsyncIterator[Playing]:
        """Give a way to play and watch at one or many tables over one stream, open until exit.

        Commands under way at exit raise UnreachableError: they may or may not be carried out.
        """
        async with Playing(lambda: self._calls.open_both_ways(self._stub.Play), self._calls.patience) as playing:
            yield playing

    async def watch(self, table_id: TableId, *, invitation_code: str = "") -> AsyncGenerator[Moment, None]:
        """Yield the table as the caller may see it: now, and after each event, every version once and in order.

        And once more with each posting of the ledger that is told beside it, as `Moment.posted`.
        Each event's hash is recomputed from what was shown and the hash before it. Lost streams are resumed.
        Who sits at the table or plays its hand has one watch of it: a newer one ends this one.
        Raises RefusedError, TakenOverError, UnreachableError, ViewBrokenError.
        """
        watch = Watch(table_id, self._open_stream, self._calls.patience, invitation_code)
        async with aclosing(watch.moments()) as moments:
            async for moment in moments:
                yield moment

    async def _carry_out(self, request: Request) -> Receipt:
        method: Any = getattr(self._stub, type(request).__name__.removesuffix("Request"))
        return receipt_of(await self._calls.make(method, request))

    def _open_stream(self, request: watch_pb2.WatchTableRequest) -> Stream:
        return self._calls.open(self._stub.WatchTable, request)


@asynccontextmanager
async def connect(
    address: str, credentials: Credentials, patience: Patience | None = None, *, tls: Tls | None = None
) -> AsyncIterator[TableClient]:
    """Give a client of the service at "host:port" on a connection of its own, closed at exit.

    With `tls` over TLS. Raises CertificateError when its files are not sound.
    """
    async with channel_to(address, tls) as channel:
        yield TableClient(channel, credentials, patience)
