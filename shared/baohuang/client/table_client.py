"""One player's client of the table service."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar
from uuid import uuid4

import grpc

from baohuang.client.credentials import Credentials
from baohuang.client.errors import error_of
from baohuang.client.following import Moment
from baohuang.client.patience import Patience, is_transient
from baohuang.client.updates import View, view_in
from baohuang.client.watching import Stream, Watch
from baohuang.eventlog.port import RequestId, Version
from baohuang.gen.rules.v1 import ruleset_pb2
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.gen.table.v1 import table_service_pb2_grpc, watch_pb2
from baohuang.rpc.messages import choice_to_proto, from_proto, to_proto
from baohuang.rules.commands import Move
from baohuang.rules.rulesets import Options
from baohuang.rules.state import PlayerId, TableId

_Request = TypeVar("_Request")
_Response = TypeVar("_Response")
_CHANNEL: Final = (
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2_000),
    # What the service allows on idle connections.
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.max_pings_without_data", 0),
)


@dataclass(frozen=True, slots=True)
class Receipt:
    """An accepted command: its table, and version and hash (32 bytes) of the last event it brought about."""

    table_id: TableId
    version: Version
    hash: bytes


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


class _Accepted(Protocol):
    """What the response of every command has."""

    table_id: str
    version: int
    hash: bytes


class TableClient:
    """Tables as one player reaches them.

    Every command carries a fresh request id and is sent again with the same one while the service does not answer, so
    it is carried out once at most; give `request_id` to go on with one from before. Calls raise RefusedError and its
    kinds, UnreachableError, FaultError.
    """

    def __init__(self, channel: grpc.aio.Channel, credentials: Credentials, patience: Patience | None = None) -> None:
        self._stub = table_service_pb2_grpc.TableServiceStub(channel)
        self._credentials = credentials
        self._patience = patience or Patience()

    async def open_table(
        self, ruleset: str, options: Options | None = None, *, request_id: RequestId | None = None
    ) -> Receipt:
        """Open a table (TABLE-1); the caller does not sit at it yet."""
        request = pb.OpenTableRequest(
            request_id=request_id or _fresh(), ruleset=ruleset, options=to_proto(options or Options(), _OPTIONS)
        )
        return _receipt(await self._call(self._stub.OpenTable, request))

    async def get_table(self, table_id: TableId) -> View:
        """Return the table as the caller may see it now."""
        return view_in((await self._call(self._stub.GetTable, pb.GetTableRequest(table_id=table_id))).table)

    async def list_tables(
        self, *, ruleset: str = "", player: str = "", free_seat: bool = False
    ) -> AsyncIterator[Summary]:
        """Yield the tables that meet every filter given, newest first, page after page."""
        request = pb.ListTablesRequest(ruleset=ruleset, player=player, free_seat=free_seat)
        while True:
            page = await self._call(self._stub.ListTables, request)
            for table in page.tables:
                yield from_proto(table, Summary)
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    async def sit_down(self, table_id: TableId, seat: int, *, request_id: RequestId | None = None) -> Receipt:
        """Take an empty seat, 0 to 4."""
        request = pb.SitDownRequest(request_id=request_id or _fresh(), table_id=table_id, seat=seat)
        return _receipt(await self._call(self._stub.SitDown, request))

    async def stand_up(self, table_id: TableId, *, request_id: RequestId | None = None) -> Receipt:
        """Leave one's seat, between hands."""
        request = pb.StandUpRequest(request_id=request_id or _fresh(), table_id=table_id)
        return _receipt(await self._call(self._stub.StandUp, request))

    async def set_ready(
        self, table_id: TableId, *, ready: bool, entropy: str = "", request_id: RequestId | None = None
    ) -> Receipt:
        """Get ready for the next hand, with up to 64 bytes of entropy for its deal (FAIR-1), or take it back."""
        request = pb.SetReadyRequest(request_id=request_id or _fresh(), table_id=table_id, ready=ready, entropy=entropy)
        return _receipt(await self._call(self._stub.SetReady, request))

    async def set_trusteeship(self, table_id: TableId, *, active: bool, request_id: RequestId | None = None) -> Receipt:
        """Give one's seat to the trustee during a hand, or take it back (TRUST-1, TRUST-3)."""
        request = pb.SetTrusteeshipRequest(request_id=request_id or _fresh(), table_id=table_id, active=active)
        return _receipt(await self._call(self._stub.SetTrusteeship, request))

    async def leave_table(self, table_id: TableId, *, request_id: RequestId | None = None) -> Receipt:
        """Leave during a hand, without a fine; `set_trusteeship` takes the seat back (FINE-1)."""
        request = pb.LeaveTableRequest(request_id=request_id or _fresh(), table_id=table_id)
        return _receipt(await self._call(self._stub.LeaveTable, request))

    async def forfeit_seat(self, table_id: TableId, *, request_id: RequestId | None = None) -> Receipt:
        """Give one's seat up for the rest of the hand, and be fined (FINE-2)."""
        request = pb.ForfeitSeatRequest(request_id=request_id or _fresh(), table_id=table_id)
        return _receipt(await self._call(self._stub.ForfeitSeat, request))

    async def kick_player(self, table_id: TableId, seat: int, *, request_id: RequestId | None = None) -> Receipt:
        """Take a seat from its player, who is fined; for operators (FINE-2)."""
        request = pb.KickPlayerRequest(request_id=request_id or _fresh(), table_id=table_id, seat=seat)
        return _receipt(await self._call(self._stub.KickPlayer, request))

    async def act(
        self,
        table_id: TableId,
        move: Move,
        *,
        expected_version: Version | None = None,
        request_id: RequestId | None = None,
    ) -> Receipt:
        """Make a move; with `expected_version` at that version of the table or never (StaleError)."""
        request = choice_to_proto(move, pb.ActRequest, "action")
        request.request_id, request.table_id = request_id or _fresh(), table_id
        if expected_version is not None:
            request.expected_version = expected_version
        return _receipt(await self._call(self._stub.Act, request))

    async def watch(self, table_id: TableId) -> AsyncGenerator[Moment, None]:
        """Yield the table as the caller may see it: now, and after each event, every version once and in order.

        Each event's hash is recomputed from what was shown and the hash before it. Lost streams are resumed.
        Who sits at the table or plays its hand has one watch of it: a newer one ends this one.
        Raises RefusedError, TakenOverError, UnreachableError, ViewBrokenError.
        """
        async with aclosing(Watch(table_id, self._open_stream, self._patience).moments()) as moments:
            async for moment in moments:
                yield moment

    def _open_stream(self, request: watch_pb2.WatchTableRequest) -> Stream:
        return self._stub.WatchTable(request, metadata=self._credentials.metadata())

    async def _call(self, method: "grpc.aio.UnaryUnaryMultiCallable[_Request, _Response]", request: _Request) -> Any:
        """Make a call, again and again with the same request while that helps."""
        try:
            async for attempt in self._patience.attempt(is_transient):
                with attempt:
                    metadata = self._credentials.metadata()
                    return await method(request, timeout=self._patience.call_seconds, metadata=metadata)
        except grpc.aio.AioRpcError as failed:
            raise error_of(failed, RequestId(getattr(request, "request_id", ""))) from failed


@asynccontextmanager
async def connect(
    address: str, credentials: Credentials, patience: Patience | None = None
) -> AsyncIterator[TableClient]:
    """Give a client of the service at "host:port" on a connection of its own, closed at exit."""
    async with grpc.aio.insecure_channel(address, options=_CHANNEL) as channel:
        yield TableClient(channel, credentials, patience)


_OPTIONS: Final = ruleset_pb2.Options


def _fresh() -> RequestId:
    return RequestId(str(uuid4()))


def _receipt(accepted: _Accepted) -> Receipt:
    return Receipt(TableId(accepted.table_id), Version(accepted.version), accepted.hash)
