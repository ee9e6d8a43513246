"""Players' calls, with the generated stubs: a request's type names its method."""

import secrets
from dataclasses import dataclass
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message
from google.rpc import error_details_pb2  # type: ignore[import-untyped]
from grpc_status import rpc_status

from baohuang.gen.history.v1 import history_service_pb2, history_service_pb2_grpc
from baohuang.gen.rules.v1 import rules_service_pb2_grpc, ruleset_pb2
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.gen.table.v1 import table_service_pb2_grpc, watch_pb2
from baohuang.rpc.messages import choice_to_proto
from baohuang.rules.commands import Move

SECONDS = 20.0
"""How long a call may take before a test gives it up."""

Changing = (
    pb.OpenTableRequest
    | pb.SitDownRequest
    | pb.StandUpRequest
    | pb.SetReadyRequest
    | pb.ActRequest
    | pb.SetTrusteeshipRequest
    | pb.LeaveTableRequest
    | pb.ForfeitSeatRequest
    | pb.KickPlayerRequest
    | pb.VoidHandRequest
    | pb.CloseTableRequest
    | pb.SetBanRequest
    | history_service_pb2.ReverseRulingRequest
)
Outcome = pb.OpenTableResponse | pb.SitDownResponse | pb.StandUpResponse | pb.SetReadyResponse | pb.ActResponse


@dataclass(frozen=True, slots=True)
class Refused:
    """What a refused call came back with; `reason` is empty when it was not this project that refused."""

    code: grpc.StatusCode
    reason: str
    domain: str
    metadata: dict[str, str]
    fields: tuple[str, ...]
    message: str


class Client:
    """One player's calls over one channel."""

    def __init__(self, channel: grpc.aio.Channel, player: str) -> None:
        self.player = player
        self.metadata: tuple[tuple[str, str], ...] = (("baohuang-player", player),)
        self._stubs = (
            table_service_pb2_grpc.TableServiceStub(channel),
            rules_service_pb2_grpc.RulesServiceStub(channel),
            history_service_pb2_grpc.HistoryServiceStub(channel),
        )

    def start(self, request: Message, seconds: float = SECONDS) -> Any:
        """Start the call the request belongs to; to be awaited, cancelled, or for WatchTable iterated."""
        name = type(request).__name__.removesuffix("Request")
        method = next(getattr(stub, name) for stub in self._stubs if hasattr(stub, name))
        return method(request, metadata=self.metadata, timeout=seconds)

    async def call(self, request: Message, seconds: float = SECONDS) -> Any:
        """Make the call and give its reply. Raises AioRpcError."""
        return await self.start(request, seconds)

    async def refused(self, request: Message) -> Refused:
        """Make a call that has to be refused, and tell how it was."""
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await self.call(request)
        return refusal(caught.value)

    def watch(self, table_id: str, after_version: int | None = None, seconds: float = SECONDS) -> Any:
        """Start a WatchTable call."""
        return self.start(watch_pb2.WatchTableRequest(table_id=table_id, after_version=after_version), seconds)


def refusal(error: grpc.aio.AioRpcError) -> Refused:
    """Read a failed call's rich status."""
    info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    status = rpc_status.from_call(error)  # type: ignore[arg-type] # has all that is read of a Call
    for detail in status.details if status else ():
        detail.Unpack(info)
        detail.Unpack(bad)
    fields = tuple(violation.field for violation in bad.field_violations)
    return Refused(error.code(), info.reason, info.domain, dict(info.metadata), fields, error.details() or "")


def fresh() -> str:
    """Make up a request id."""
    return secrets.token_hex(8)


def open_table(ruleset: str = "ourgame-simple") -> pb.OpenTableRequest:
    """Ask for a new table; its turns are long, so that no clock ends one however slow the machine is."""
    unhurried = ruleset_pb2.Options(turn_seconds=300, declare_seconds=300)
    return pb.OpenTableRequest(request_id=fresh(), ruleset=ruleset, options=unhurried)


def sit(table_id: str, seat: int) -> pb.SitDownRequest:
    """Ask for a seat."""
    return pb.SitDownRequest(request_id=fresh(), table_id=table_id, seat=seat)


def stand(table_id: str) -> pb.StandUpRequest:
    """Ask to leave one's seat."""
    return pb.StandUpRequest(request_id=fresh(), table_id=table_id)


def ready(table_id: str, entropy: str = "") -> pb.SetReadyRequest:
    """Ask to be ready."""
    return pb.SetReadyRequest(request_id=fresh(), table_id=table_id, ready=True, entropy=entropy)


def act(table_id: str, move: Move) -> pb.ActRequest:
    """Ask for a move."""
    request = choice_to_proto(move, pb.ActRequest, "action")
    request.table_id, request.request_id = table_id, fresh()
    return request
