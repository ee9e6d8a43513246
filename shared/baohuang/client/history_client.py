"""A client of the history service: what happened, which rulings were made and why, and whether all of it holds."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from datetime import datetime
from types import MappingProxyType
from typing import Final

import grpc

from baohuang.client.calls import Calls, channel_to
from baohuang.client.commands import Receipt, fresh_id, receipt_of
from baohuang.client.game_check import CheckedGame, GameCheck
from baohuang.client.instants import instant_text
from baohuang.client.patience import Patience
from baohuang.client.reading import Stream
from baohuang.client.record_stream import RecordStream
from baohuang.client.records import (
    Explanation,
    RecordedEvent,
    RecordFinding,
    Ruling,
    Verification,
    recorded_in,
    ruling_in,
)
from baohuang.client.requests import made
from baohuang.client.updates import View, view_in
from baohuang.eventlog.port import RequestId, StreamId, Version
from baohuang.gen.history.v1 import history_service_pb2 as pb
from baohuang.gen.history.v1 import history_service_pb2_grpc
from baohuang.history.sought import EventsSought, Order, RulingsSought
from baohuang.rpc.credentials import Credentials
from baohuang.rpc.messages import from_proto
from baohuang.rules.state import TableId
from baohuang.tls.files import Tls

_NOTHING_SHOWN: Final[Mapping[Version, bytes]] = MappingProxyType({})
_LONG_SECONDS: Final = 600.0
"""The deadline of what goes over a whole table, and waits its turn before that."""
_ORDERS: Final = MappingProxyType(
    {Order.OLDEST_FIRST: pb.ORDER_OLDEST_FIRST, Order.NEWEST_FIRST: pb.ORDER_NEWEST_FIRST}
)


class HistoryClient:
    """The record as one caller may read it. Calls raise RefusedError and its kinds, UnreachableError, FaultError.

    `invitation_code` is for private tables at which the caller has no seat and which he did not open.
    """

    def __init__(self, channel: grpc.aio.Channel, credentials: Credentials, patience: Patience | None = None) -> None:
        self._stub = history_service_pb2_grpc.HistoryServiceStub(channel)
        self._calls = Calls(credentials, patience)

    async def events(
        self, sought: EventsSought, order: Order = Order.OLDEST_FIRST, *, invitation_code: str = ""
    ) -> AsyncIterator[RecordedEvent]:
        """Yield the events sought, page after page."""
        request = made(
            pb.ListEventsRequest, filter=_filter(sought), order=_ORDERS[order], invitation_code=invitation_code
        )
        async for page in self._calls.pages(self._stub.ListEvents, request):
            for event in page.events:
                yield recorded_in(event)

    async def stream(
        self, sought: EventsSought, order: Order = Order.OLDEST_FIRST, *, invitation_code: str = ""
    ) -> AsyncGenerator[RecordedEvent, None]:
        """Yield the events sought over one stream, to the last there is by then; a lost stream is gone on with."""
        request = made(
            pb.StreamEventsRequest, filter=_filter(sought), order=_ORDERS[order], invitation_code=invitation_code
        )
        reading = RecordStream(request, self._open_stream, self._calls.patience)
        async with aclosing(reading.events()) as events:
            async for event in events:
                yield event

    async def table_at(self, table_id: TableId, at: Version | datetime, *, invitation_code: str = "") -> View:
        """Return the table right after a version, or after all that was recorded by an instant (aware)."""
        when = {"instant": instant_text(at, "instant")} if isinstance(at, datetime) else {"version": at}
        request = made(pb.GetTableAtRequest, table_id=table_id, invitation_code=invitation_code, **when)
        return view_in((await self._calls.make(self._stub.GetTableAt, request)).table)

    async def rulings(self, sought: RulingsSought, *, invitation_code: str = "") -> AsyncIterator[Ruling]:
        """Yield the rulings sought, newest first, page after page; `before` of what is sought is not for clients."""
        request = made(
            pb.ListRulingsRequest,
            table_id=sought.stream_id or "",
            player=sought.player or "",
            kinds=sought.kinds,
            clause=sought.clause or "",
            since=instant_text(sought.since, "since"),
            until=instant_text(sought.until, "until"),
            invitation_code=invitation_code,
        )
        async for page in self._calls.pages(self._stub.ListRulings, request):
            for ruling in page.rulings:
                yield ruling_in(ruling)

    async def explain(self, table_id: StreamId, version: Version, *, invitation_code: str = "") -> Explanation:
        """Explain the ruling at a version."""
        request = made(pb.ExplainRulingRequest, table_id=table_id, version=version, invitation_code=invitation_code)
        answer = await self._calls.make(self._stub.ExplainRuling, request, _LONG_SECONDS)
        return from_proto(answer.judgement, Explanation)

    async def reverse(
        self, table_id: TableId, version: Version, reason: str, *, request_id: RequestId | None = None
    ) -> Receipt:
        """Take a fine or a void back, for a reason of 1 to 200 characters; for operators (RULE-1)."""
        request = made(
            pb.ReverseRulingRequest,
            request_id=request_id or fresh_id(),
            table_id=table_id,
            version=version,
            reason=reason,
        )
        return receipt_of(await self._calls.make(self._stub.ReverseRuling, request))

    async def verify(self, table_id: StreamId, *, chain_only: bool = False) -> Verification:
        """Have the service verify a table's record, or a player's; for operators and services."""
        request = made(pb.VerifyTableRequest, table_id=table_id, chain_only=chain_only)
        answer = await self._calls.make(self._stub.VerifyTable, request, _LONG_SECONDS)
        return Verification(answer.events, tuple(from_proto(one, RecordFinding) for one in answer.findings))

    async def export(
        self, table_id: TableId, hand: int, *, public_only: bool = False, invitation_code: str = ""
    ) -> bytes:
        """Return the record of a hand that is over, a document for `baohuang.handrecord.read_record`."""
        request = made(
            pb.ExportHandRequest, table_id=table_id, hand=hand, public_only=public_only, invitation_code=invitation_code
        )
        record: bytes = (await self._calls.make(self._stub.ExportHand, request)).record
        return record

    async def check_game(
        self, table_id: TableId, shown: Mapping[Version, bytes] = _NOTHING_SHOWN, *, invitation_code: str = ""
    ) -> CheckedGame:
        """Check a table's record here, believing nothing: see `baohuang.client.game_check` for what is checked.

        `shown` are hashes that were seen while the table was watched, by version, such as those of moments: only they
        tell a record that was made anew, or cut, from the one that was played.
        """
        check = await self._checked(GameCheck(table_id, shown), invitation_code)
        if check.withheld:
            # A hand ended while its events came: now all of it is open. Up to there, as the next one may end meanwhile.
            tip = check.tip
            again = GameCheck(table_id, {tip.version: tip.hash, **shown})
            check = await self._checked(again, invitation_code, tip.version)
        return check.checked()

    async def _checked(self, check: GameCheck, invitation_code: str, until: Version | None = None) -> GameCheck:
        """Have all events checked, or those up to a version."""
        sought = EventsSought(StreamId(check.table_id))
        async with aclosing(self.stream(sought, invitation_code=invitation_code)) as events:
            async for event in events:
                check.take(event)
                if event.version == until:
                    break
        return check

    def _open_stream(self, request: pb.StreamEventsRequest) -> Stream:
        return self._calls.open(self._stub.StreamEvents, request)


def _filter(sought: EventsSought) -> pb.EventFilter:
    return made(
        pb.EventFilter,
        table_id=sought.stream_id or "",
        player=sought.player or "",
        types=sought.types,
        rulings=sought.rulings,
        since=instant_text(sought.since, "filter.since"),
        until=instant_text(sought.until, "filter.until"),
        after_position=sought.after,
        before_position=sought.before or 0,
    )


@asynccontextmanager
async def connect_history(
    address: str, credentials: Credentials, patience: Patience | None = None, *, tls: Tls | None = None
) -> AsyncIterator[HistoryClient]:
    """Give a client of the history service at "host:port" on a connection of its own, closed at exit.

    With `tls` over TLS. Raises CertificateError when its files are not sound.
    """
    async with channel_to(address, tls) as channel:
        yield HistoryClient(channel, credentials, patience)
