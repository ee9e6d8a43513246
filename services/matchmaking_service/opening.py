"""Opening the tables of matches: of each the outcome is known, refused for a reason, or not known.

Those of matches that are made at one time are opened by one call.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import grpc

from baohuang.gen.rules.v1 import ruleset_pb2
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.gen.table.v1 import table_service_pb2_grpc
from baohuang.rpc.credentials import Metadata
from baohuang.rpc.messages import to_proto
from baohuang.rpc.status import read_details
from baohuang.rules.state import PlayerId, TableId
from matchmaking_service.tickets import Formed

OPEN_SECONDS: Final = 2.0
"""How long tables may take to open; less than a match's lease."""
_OUR_OWN_FAULT: Final = frozenset({grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED})
_REFUSALS: Final = frozenset({grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.FAILED_PRECONDITION})
_CODES: Final = MappingProxyType({code.value[0]: code for code in grpc.StatusCode})


@dataclass(frozen=True, slots=True)
class Opened:
    """The players sit at it."""

    table_id: TableId


@dataclass(frozen=True, slots=True)
class RefusedTable:
    """There is no table and will be none, for the reason given; `player` is who stands in the way, None if nobody.

    `by_request` tells that the request is wrong whoever plays.
    """

    reason: str
    player: PlayerId | None
    by_request: bool


@dataclass(frozen=True, slots=True)
class Unknown:
    """There may be a table: to be asked again, with the same request id. `fault` tells that the service failed."""

    why: str
    fault: bool


Outcome = Opened | RefusedTable | Unknown


class Tables:
    """The table service, called as a service."""

    def __init__(self, channel: grpc.aio.Channel, metadata: Metadata) -> None:
        self._stub: Final = table_service_pb2_grpc.TableServiceStub(channel)
        self._metadata: Final = metadata

    async def open(self, matches: Sequence[Formed]) -> Sequence[Outcome]:
        """Open the tables of matches, at most 100, and return what came of each; one table, however often it is asked.

        A table service of the release before opens them one by one.
        """
        request = pb.OpenTablesRequest(requests=map(_order, matches))
        try:
            reply = await self._stub.OpenTables(request, metadata=self._metadata, timeout=OPEN_SECONDS)
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.UNIMPLEMENTED:
                return await asyncio.gather(*map(self._open_one, matches))
            return [_refused_by(error)] * len(matches)
        return [_outcome(answer) for answer in reply.answers]

    async def _open_one(self, match: Formed) -> Outcome:
        try:
            reply = await self._stub.OpenTable(_order(match), metadata=self._metadata, timeout=OPEN_SECONDS)
        except grpc.aio.AioRpcError as error:
            return _refused_by(error)
        return Opened(TableId(reply.table_id))


def _order(match: Formed) -> pb.OpenTableRequest:
    return pb.OpenTableRequest(
        request_id=match.match_id,
        ruleset=match.ruleset,
        options=to_proto(match.options, ruleset_pb2.Options),
        players=match.players,
    )


def _refused_by(error: grpc.aio.AioRpcError) -> Outcome:
    details = read_details(error)
    if details is None:
        return Unknown(f"{error.code().name}: {error.details()}", fault=False)
    return _refusal(error.code(), details.reason, details.message, details.metadata.get("player"))


def _outcome(answer: pb.OpenTablesAnswer) -> Outcome:
    match answer.WhichOneof("answer"):
        case "accepted":
            return Opened(TableId(answer.accepted.table_id))
        case "refused":
            it = answer.refused
            return _refusal(_CODES[it.code], it.reason, it.message, it.metadata.get("player"))
        case _:
            return Unknown("an answer that says nothing", fault=True)


def _refusal(code: grpc.StatusCode, reason: str, message: str, player: str | None) -> Outcome:
    if code not in _REFUSALS and not (player is not None and code in _OUR_OWN_FAULT):
        return Unknown(f"{reason}: {message}", fault=code is grpc.StatusCode.INTERNAL)
    by_request = code is grpc.StatusCode.INVALID_ARGUMENT
    return RefusedTable(reason, PlayerId(player) if player else None, by_request)
