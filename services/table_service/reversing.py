"""Taking rulings back: `ReverseRuling` as the command that it is (RULE-1)."""

from typing import Any

from baohuang.eventlog.port import EventLog, EventLogError, StreamId, Version
from baohuang.gen.history.v1 import history_service_pb2 as pb
from baohuang.rpc.errors import Reason, Unavailable
from table_service import api
from table_service.handler import CommandHandler


class Reversing:
    """Carries ReverseRuling out; the caller has to be an operator, which the servicer sees to."""

    def __init__(self, log: EventLog, handler: CommandHandler) -> None:
        self._log = log
        self._handler = handler

    async def __call__(self, request: pb.ReverseRulingRequest, _context: Any) -> pb.ReverseRulingResponse:
        """Take the ruling back.

        Raises Refusal: IllegalMove (NOT_A_RULING, NOT_REVERSIBLE, ALREADY_REVERSED), MalformedInput, NotFound,
        Unavailable.
        """
        done = await self._handler.handle(api.reversal_in(request, await self._kind_of(request)))
        return pb.ReverseRulingResponse(table_id=done.table_id, version=done.version, hash=done.hash)

    async def _kind_of(self, request: pb.ReverseRulingRequest) -> str:
        """Return the type of the event that is to be taken back, empty if there is none; it never changes."""
        table_id, version = api.ruling_named_in(request)
        try:
            found = await self._log.read_stream(StreamId(table_id), Version(version - 1), limit=1)
        except EventLogError as error:
            raise Unavailable(Reason.LOG_UNAVAILABLE, "the event log did not answer: retry the same request") from error
        return found[0].type if found else ""
