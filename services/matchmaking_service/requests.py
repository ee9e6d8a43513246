"""Requests that are carried out once, however often and wherever they come (AIP-155)."""

from collections.abc import Awaitable, Callable
from typing import Final

import structlog
from msgspec import Struct

from baohuang.database.pool import FAILURES, Connection, Pool
from baohuang.rpc.errors import MalformedInput, Reason, Unavailable
from baohuang.rules.state import PlayerId
from matchmaking_service.queries import query

_TAKE: Final = query("take_request")
_FIND: Final = query("find_request")
_ANSWER: Final = query("answer_request")
_log = structlog.get_logger("matchmaking")


class Request(Struct, frozen=True):
    """A request as it came in; `digest` is that of its body."""

    caller: PlayerId
    request_id: str
    digest: bytes


Work = Callable[[Connection], Awaitable[bytes]]
"""Has the request's effect in the transaction it is given, and returns the answer; a Refusal undoes all of it."""


async def carried_out_once(pool: Pool, request: Request, work: Work) -> bytes:
    """Return the request's answer: that of its work, or of the first time, when both are committed.

    Raises Refusal: of the work; MalformedInput for an id that was used with another body; Unavailable.
    """
    try:
        async with pool.acquire() as connection, connection.transaction():
            if await connection.fetchval(_TAKE, request.caller, request.request_id, request.digest) is None:
                return await _first_answer(connection, request)
            answer = await work(connection)
            await connection.execute(_ANSWER, request.caller, request.request_id, answer)
            return answer
    except FAILURES as error:
        _log.warning("request not carried out", error=type(error).__name__)
        message = "the database did not answer: retry the same request"
        raise Unavailable(Reason.STORE_UNAVAILABLE, message) from error


async def _first_answer(connection: Connection, request: Request) -> bytes:
    row = await connection.fetchrow(_FIND, request.caller, request.request_id)
    if row is None or row["digest"] != request.digest:
        raise MalformedInput.field("request_id", "was used for another request", Reason.REQUEST_ID_REUSED)
    answer: bytes = row["response"]
    return answer
