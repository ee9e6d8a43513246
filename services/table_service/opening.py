"""Tables that are opened together: each is a command of its own, and they are stored by as few flushes as may be."""

import asyncio
from collections.abc import Sequence
from typing import Final

from baohuang.gen.table.v1 import play_pb2
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.rpc.errors import MalformedInput, Refusal
from table_service import api
from table_service.answering import answer_to, refused
from table_service.clock import DatabaseClock
from table_service.handler import CommandHandler

MOST_AT_ONCE: Final = 100
_Answer = play_pb2.Accepted | play_pb2.Refused


async def open_tables(
    handler: CommandHandler, clock: DatabaseClock, messages: Sequence[pb.OpenTableRequest]
) -> Sequence[_Answer]:
    """Open the tables and return what came of each, in order. Raises MalformedInput if there are none, or too many."""
    if not 1 <= len(messages) <= MOST_AT_ONCE:
        raise MalformedInput.field("requests", f"1 to {MOST_AT_ONCE} tables are opened at once")
    return await asyncio.gather(*(_opened(handler, clock, message) for message in messages))


async def _opened(handler: CommandHandler, clock: DatabaseClock, message: pb.OpenTableRequest) -> _Answer:
    try:
        request = api.request_in(message, clock.now)
    except Refusal as refusal:
        return refused(message.request_id, "", refusal)
    task = handler.start(request)
    await asyncio.wait([task])
    return answer_to(request, task)
