"""Opening the table of a match: one call, whose outcome is known, refused for a reason, or not known."""

from dataclasses import dataclass
from typing import Final

import grpc

from baohuang.client.credentials import Metadata
from baohuang.gen.rules.v1 import ruleset_pb2
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.gen.table.v1 import table_service_pb2_grpc
from baohuang.rpc.messages import to_proto
from baohuang.rpc.status import read_details
from baohuang.rules.state import PlayerId, TableId
from matchmaking_service.tickets import Formed

OPEN_SECONDS: Final = 2.0
"""How long a table may take to open; less than a match's lease."""
_OUR_OWN_FAULT: Final = frozenset({grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED})
_REFUSALS: Final = frozenset({grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.FAILED_PRECONDITION})


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

    async def open(self, match: Formed) -> Outcome:
        """Open the table of a match; as often as it is asked for there is one."""
        request = pb.OpenTableRequest(
            request_id=match.match_id,
            ruleset=match.ruleset,
            options=to_proto(match.options, ruleset_pb2.Options),
            players=match.players,
        )
        try:
            reply = await self._stub.OpenTable(request, metadata=self._metadata, timeout=OPEN_SECONDS)
        except grpc.aio.AioRpcError as error:
            return _outcome(error)
        return Opened(TableId(reply.table_id))


def _outcome(error: grpc.aio.AioRpcError) -> Outcome:
    code, details = error.code(), read_details(error)
    if details is None:
        return Unknown(f"{code.name}: {error.details()}", fault=False)
    player = details.metadata.get("player")
    refused = code in _REFUSALS or (player is not None and code in _OUR_OWN_FAULT)
    if not refused:
        return Unknown(f"{details.reason}: {details.message}", fault=code is grpc.StatusCode.INTERNAL)
    by_request = code is grpc.StatusCode.INVALID_ARGUMENT
    return RefusedTable(details.reason, PlayerId(player) if player else None, by_request)
