"""HistoryService: from stub to record and back."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import replace
from typing import TypeVar

from baohuang.audit.explaining import NotARulingError, NothingThereError
from baohuang.audit.stream import Depth
from baohuang.eventlog.port import EventLogError, EventReader, StreamId, Version
from baohuang.gen.history.v1 import history_service_pb2 as pb
from baohuang.handrecord import NoSuchHand, StillPlayed, public, write_record
from baohuang.history.reader import HistoryReader
from baohuang.rpc.auth import Role
from baohuang.rpc.errors import IllegalMove, NotFound, Reason, Unavailable, WrongState
from baohuang.rpc.roles import require
from table_service.api import table_id_in, visitor
from table_service.history import api, messages
from table_service.history.asking import Doors, stream_in
from table_service.history.listing import Listing, behind
from table_service.history.past import Past, no_such_version
from table_service.history.sight import Sights
from table_service.history.working import Work
from table_service.privacy import Visitor
from table_service.reversing_servicer import Context, Reverse, ReversingServicer
from table_service.tables import Tables

_T = TypeVar("_T")
_Message = TypeVar("_Message", pb.RecordedEvent, pb.Ruling)
_TABLES_HELD = 500
"""Fewer than those that are played at: these are only looked at."""


class HistoryServicer(ReversingServicer):
    """Serves the contract; see `baohuang/history/v1/history_service.proto` for what each call promises."""

    def __init__(self, log: EventReader, records: HistoryReader, reverse: Reverse) -> None:
        super().__init__(reverse)
        # Not the tables of those who play: looking back neither waits for them nor takes their place.
        tables = Tables(log, lambda *_: None, _TABLES_HELD)
        self._doors = Doors(log, tables)
        self._sights = Sights(records, tables)
        self._listing = Listing(records, self._sights)
        self._past = Past(records, self._sights)
        self._work = Work(log, records)

    async def ListEvents(self, request: pb.ListEventsRequest, context: Context) -> pb.ListEventsResponse:
        """Return a page of events."""
        asked, page, comer = api.events_asked(request), api.page_of(request), visitor(request.invitation_code)
        sought, position = asked.sought, api.position_before(request, page)
        if position is not None:
            sought = behind(sought, asked.order, position)
        with _answering():
            await self._doors.check_listing(comer, sought.stream_id, sought.player)
            events = self._listing.events(comer, sought, asked.order)
            told = await _first(events, page.size + 1, messages.event_message)
        return messages.events_page(told, page)

    async def StreamEvents(
        self, request: pb.StreamEventsRequest, context: Context
    ) -> AsyncIterator[pb.StreamEventsResponse]:
        """Stream events to the last one there is."""
        asked, comer = api.events_asked(request), visitor(request.invitation_code)
        with _answering():
            await self._doors.check_listing(comer, asked.sought.stream_id, asked.sought.player)
            async with aclosing(self._listing.events(comer, asked.sought, asked.order)) as events:
                async for seen in events:
                    yield pb.StreamEventsResponse(event=messages.event_message(seen))

    async def GetTableAt(self, request: pb.GetTableAtRequest, context: Context) -> pb.GetTableAtResponse:
        """Return a table as it was."""
        stream_id, at = StreamId(table_id_in(request.table_id)), api.at_in(request)
        comer = visitor(request.invitation_code)
        with _answering():
            await self._doors.check(comer, stream_id)
            return messages.table_message(await self._past.at(comer, stream_id, at))

    async def ListRulings(self, request: pb.ListRulingsRequest, context: Context) -> pb.ListRulingsResponse:
        """Return a page of rulings."""
        sought, page, comer = api.rulings_asked(request), api.page_of(request), visitor(request.invitation_code)
        sought = replace(sought, before=api.position_before(request, page))
        with _answering():
            await self._doors.check_listing(comer, sought.stream_id, sought.player)
            told = await _first(self._listing.rulings(comer, sought), page.size + 1, messages.ruling_message)
        return messages.rulings_page(told, page)

    async def ExplainRuling(self, request: pb.ExplainRulingRequest, context: Context) -> pb.ExplainRulingResponse:
        """Explain a ruling."""
        stream_id, version = stream_in(request.table_id), api.version_in(request)
        comer = visitor(request.invitation_code)
        with _answering():
            await self._check_explained(comer, stream_id, version)
            sight = await self._sights.of_one(comer, stream_id)
            if not sight.shows(version):
                raise no_such_version(stream_id, version)
            try:
                judgement = await self._work.explain(comer.player, stream_id, version)
            except NothingThereError as error:
                raise no_such_version(stream_id, version) from error
            except NotARulingError as error:
                raise IllegalMove(Reason.NOT_A_RULING, str(error), "RULE-1") from error
        return pb.ExplainRulingResponse(judgement=messages.judgement_message(judgement, sight))

    @require(Role.OPERATOR, Role.SERVICE)
    async def VerifyTable(self, request: pb.VerifyTableRequest, context: Context) -> pb.VerifyTableResponse:
        """Verify the record of a table; for operators and services."""
        stream_id = stream_in(request.table_id)
        with _answering():
            await self._doors.check_there(stream_id)
            depth = Depth.CHAIN if request.chain_only else Depth.DECISIONS
            verified = await self._work.verify(visitor("").player, stream_id, depth)
        return pb.VerifyTableResponse(events=verified.events, findings=map(messages.finding_message, verified.findings))

    async def ExportHand(self, request: pb.ExportHandRequest, context: Context) -> pb.ExportHandResponse:
        """Return a hand that is over as a record."""
        table_id, hand = table_id_in(request.table_id), api.hand_in(request)
        with _answering():
            await self._doors.check(visitor(request.invitation_code), StreamId(table_id))
            try:
                record = await self._work.export(table_id, hand)
            except StillPlayed as error:
                raise WrongState(Reason.HAND_IN_PROGRESS, str(error)) from error
            except NoSuchHand as error:
                raise NotFound(Reason.NO_SUCH_HAND, str(error)) from error
        return pb.ExportHandResponse(record=write_record(public(record) if request.public_only else record))

    async def _check_explained(self, comer: Visitor, stream_id: StreamId, version: Version) -> None:
        """Raise as `Doors.check` does, but let everybody know why he was ruled on, wherever it was."""
        try:
            await self._doors.check(comer, stream_id)
        except NotFound:
            if not await self._listing.is_about(comer, stream_id, version):
                raise


@contextmanager
def _answering() -> Iterator[None]:
    """Refuse the call if the log does not answer."""
    try:
        yield
    except EventLogError as error:
        raise Unavailable(Reason.LOG_UNAVAILABLE, "the event log did not answer: retry") from error


async def _first(several: AsyncGenerator[_T, None], count: int, told: Callable[[_T], _Message]) -> Sequence[_Message]:
    """Return the messages of the first of several, so many at most, each made as it comes: with pauses between."""
    made: list[_Message] = []
    async with aclosing(several):
        async for one in several:
            made.append(told(one))
            if len(made) == count:
                break
    return made
