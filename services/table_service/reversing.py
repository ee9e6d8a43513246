"""Taking rulings back: `ReverseRuling` as the command that it is (RULE-1)."""

from collections.abc import Sequence
from typing import Any, Final

import structlog

from baohuang.audit.findings import Check, Finding
from baohuang.audit.pausing import HalfTheTime
from baohuang.audit.standing import findings_of_last_hand
from baohuang.eventlog.port import Actor, EventLog, EventLogError, StreamId, Version
from baohuang.eventlog.reading_back import HAND_STARTED
from baohuang.gen.history.v1 import history_service_pb2 as pb
from baohuang.rpc.errors import IllegalMove, Reason, Unavailable
from baohuang.rules.events import names_ruling
from table_service import api
from table_service.handler import CommandHandler
from table_service.readable import events_in
from table_service.request import Request

_log = structlog.get_logger("table_service")
_TELLS_MOVES: Final = (Check.COMMAND, Check.DEAL)
"""Checks whose findings may tell a card that nobody has seen yet: such a one's text is for `verify`, and not told."""


class Reversing:
    """Carries ReverseRuling out; the caller has to be an operator, which the servicer sees to."""

    def __init__(self, log: EventLog, handler: CommandHandler) -> None:
        self._log = log
        self._handler = handler

    async def __call__(self, message: pb.ReverseRulingRequest, _context: Any) -> pb.ReverseRulingResponse:
        """Take the ruling back, if it follows from the record as the rules have it.

        Raises Refusal: IllegalMove (NOT_A_RULING, NOT_REVERSIBLE, ALREADY_REVERSED, RECORD_DISPUTED), MalformedInput,
        NotFound, Unavailable.
        """
        try:
            kind = await self._kind_of(message)
            request = api.reversal_in(message, kind)
            if names_ruling(kind):
                await self._check_record(request)
        except EventLogError as error:
            raise Unavailable(Reason.LOG_UNAVAILABLE, "the event log did not answer: retry the same request") from error
        done = await self._handler.handle(request)
        return pb.ReverseRulingResponse(table_id=done.table_id, version=done.version, hash=done.hash)

    async def _kind_of(self, message: pb.ReverseRulingRequest) -> str:
        """Return the type of the event that is to be taken back, empty if there is none; it never changes."""
        table_id, version = api.ruling_named_in(message)
        found = await self._log.read_stream(StreamId(table_id), Version(version - 1), limit=1)
        return found[0].type if found else ""

    async def _check_record(self, request: Request) -> None:
        """Raise IllegalMove if the hand's record does not follow; what was taken back before has its outcome still.

        Raises Unavailable if it cannot be read here, LogUnavailable.

        Only rulings of the last hand can be taken back, and the points come from its record: so all of it has to stand.
        """
        stream_id = StreamId(request.table_id)
        found = await findings_of_last_hand(self._log, stream_id, HalfTheTime())
        if found:
            # What a newer release wrote is no dispute.
            events_in(await self._log.read_since_last(stream_id, HAND_STARTED))
        if found and not await self._log.find_request(Actor(request.player), request.request_id):
            _log.error("record disputed", table_id=request.table_id, version=found[0].version, findings=len(found))
            raise _disputed(found)


def _disputed(found: Sequence[Finding]) -> IllegalMove:
    first = found[0]
    said = "it does not follow" if first.check in _TELLS_MOVES else first.message
    place = f"{first.check.value}{f' ({first.clause})' if first.clause else ''} at version {first.version}"
    message = f"the record of the hand does not stand, nothing was taken back: {place}: {said}; verify the table"
    return IllegalMove(Reason.RECORD_DISPUTED, message, "RULE-1", {"version": str(first.version)})
