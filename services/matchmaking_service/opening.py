"""Opening the tables of matches: of each the outcome is known, refused for a reason, or not known.

Matches that are made at one time are opened over one short Play stream: a message costs both sides a tenth of a call.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import grpc

from baohuang.client.credentials import Metadata
from baohuang.gen.rules.v1 import ruleset_pb2
from baohuang.gen.table.v1 import play_pb2, table_service_pb2_grpc
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.rpc.messages import to_proto
from baohuang.rpc.status import read_details
from baohuang.rules.state import PlayerId, TableId
from matchmaking_service.tickets import Formed, MatchId

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

    async def open(self, matches: Sequence[Formed]) -> AsyncGenerator[tuple[Formed, Outcome]]:
        """Open the tables of matches and give what came of each, as it comes.

        As often as a match is asked for there is one table.
        """
        left = {match.match_id: match for match in matches}
        try:
            async for answer in self._stub.Play(_orders(matches), metadata=self._metadata, timeout=OPEN_SECONDS):
                match answer.WhichOneof("message"):
                    case "accepted":
                        yield left.pop(MatchId(answer.accepted.request_id)), Opened(TableId(answer.accepted.table_id))
                    case "refused":
                        yield left.pop(MatchId(answer.refused.request_id)), _refused(answer.refused)
                    case _:
                        pass  # signs of life, and of the end
            unknown = Unknown("the table service is going away", fault=False)
        except grpc.aio.AioRpcError as error:
            unknown = _broken(error)
        for match in left.values():
            yield match, unknown


async def _orders(matches: Sequence[Formed]) -> AsyncIterator[pb.PlayRequest]:
    for match in matches:
        order = pb.OpenTableRequest(
            request_id=match.match_id,
            ruleset=match.ruleset,
            options=to_proto(match.options, ruleset_pb2.Options),
            players=match.players,
        )
        yield pb.PlayRequest(open_table=order)


def _broken(error: grpc.aio.AioRpcError) -> Unknown:
    details = read_details(error)
    if details is None:
        return Unknown(f"{error.code().name}: {error.details()}", fault=False)
    return Unknown(f"{details.reason}: {details.message}", fault=error.code() is grpc.StatusCode.INTERNAL)


def _refused(answer: play_pb2.Refused) -> Outcome:
    code, player = _CODES[answer.code], answer.metadata.get("player")
    refused = code in _REFUSALS or (player is not None and code in _OUR_OWN_FAULT)
    if not refused:
        return Unknown(f"{answer.reason}: {answer.message}", fault=code is grpc.StatusCode.INTERNAL)
    by_request = code is grpc.StatusCode.INVALID_ARGUMENT
    return RefusedTable(answer.reason, PlayerId(player) if player else None, by_request)
