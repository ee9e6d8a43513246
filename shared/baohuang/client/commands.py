"""The commands of a player, whichever way they are sent."""

import secrets
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Final, Protocol
from uuid import uuid4

from baohuang.client.requests import chosen, made, part
from baohuang.eventlog.port import RequestId, Version
from baohuang.gen.rules.v1 import ruleset_pb2
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.rules.commands import Move
from baohuang.rules.rulesets import Options
from baohuang.rules.state import TableId

Request = (
    pb.OpenTableRequest
    | pb.SitDownRequest
    | pb.StandUpRequest
    | pb.SetReadyRequest
    | pb.ActRequest
    | pb.SetTrusteeshipRequest
    | pb.LeaveTableRequest
    | pb.ForfeitSeatRequest
)
_OPTIONS: Final = ruleset_pb2.Options
_CODE_BYTES: Final = 24


@dataclass(frozen=True, slots=True)
class Receipt:
    """An accepted command: its table, and version and hash (32 bytes) of the last event it brought about."""

    table_id: TableId
    version: Version
    hash: bytes


class Accepted(Protocol):
    """What the response of every command has."""

    table_id: str
    version: int
    hash: bytes


class Commands(ABC):
    """What a player can do.

    Every command carries a fresh request id and is sent again with the same one while the service does not answer, so
    it is carried out once at most; give `request_id` to go on with one from before. Commands raise RefusedError and its
    kinds, UnreachableError, FaultError.
    """

    @abstractmethod
    async def _carry_out(self, request: Request) -> Receipt:
        """Send a command until it is answered."""

    async def open_table(
        self,
        ruleset: str,
        options: Options | None = None,
        *,
        invitation_code: str = "",
        request_id: RequestId | None = None,
    ) -> Receipt:
        """Open a table (TABLE-1), private with a code (`fresh_invitation_code`); the caller does not sit at it yet."""
        request = made(
            pb.OpenTableRequest,
            request_id=request_id or fresh_id(),
            ruleset=ruleset,
            options=part(options or Options(), _OPTIONS, "options"),
            invitation_code=invitation_code,
        )
        return await self._carry_out(request)

    async def sit_down(
        self, table_id: TableId, seat: int, *, invitation_code: str = "", request_id: RequestId | None = None
    ) -> Receipt:
        """Take an empty seat, 0 to 4; at a private table with its code."""
        request = made(
            pb.SitDownRequest,
            request_id=request_id or fresh_id(),
            table_id=table_id,
            seat=seat,
            invitation_code=invitation_code,
        )
        return await self._carry_out(request)

    async def stand_up(self, table_id: TableId, *, request_id: RequestId | None = None) -> Receipt:
        """Leave one's seat, between hands."""
        request = made(pb.StandUpRequest, request_id=request_id or fresh_id(), table_id=table_id)
        return await self._carry_out(request)

    async def set_ready(
        self, table_id: TableId, *, ready: bool, entropy: str = "", request_id: RequestId | None = None
    ) -> Receipt:
        """Get ready for the next hand, with up to 64 bytes of entropy for its deal (FAIR-1), or take it back."""
        request = made(
            pb.SetReadyRequest, request_id=request_id or fresh_id(), table_id=table_id, ready=ready, entropy=entropy
        )
        return await self._carry_out(request)

    async def set_trusteeship(self, table_id: TableId, *, active: bool, request_id: RequestId | None = None) -> Receipt:
        """Give one's seat to the trustee during a hand, or take it back (TRUST-1, TRUST-3)."""
        request = made(pb.SetTrusteeshipRequest, request_id=request_id or fresh_id(), table_id=table_id, active=active)
        return await self._carry_out(request)

    async def leave_table(self, table_id: TableId, *, request_id: RequestId | None = None) -> Receipt:
        """Leave during a hand, without a fine; `set_trusteeship` takes the seat back (FINE-1)."""
        request = made(pb.LeaveTableRequest, request_id=request_id or fresh_id(), table_id=table_id)
        return await self._carry_out(request)

    async def forfeit_seat(self, table_id: TableId, *, request_id: RequestId | None = None) -> Receipt:
        """Give one's seat up for the rest of the hand, and be fined (FINE-2)."""
        request = made(pb.ForfeitSeatRequest, request_id=request_id or fresh_id(), table_id=table_id)
        return await self._carry_out(request)

    async def act(
        self,
        table_id: TableId,
        move: Move,
        *,
        expected_version: Version | None = None,
        request_id: RequestId | None = None,
    ) -> Receipt:
        """Make a move; with `expected_version` at that version of the table or never (StaleError)."""
        request = chosen(move, pb.ActRequest, "action")
        request.MergeFrom(
            made(
                pb.ActRequest,
                request_id=request_id or fresh_id(),
                table_id=table_id,
                expected_version=expected_version,
            )
        )
        return await self._carry_out(request)


def fresh_id() -> RequestId:
    """Make up a request id."""
    return RequestId(str(uuid4()))


def receipt_of(accepted: Accepted) -> Receipt:
    """Return what an accepted command came to."""
    return Receipt(TableId(accepted.table_id), Version(accepted.version), accepted.hash)


def fresh_invitation_code() -> str:
    """Return a code for a private table that nobody can guess: only those who have it, and who sit there, can come."""
    return secrets.token_urlsafe(_CODE_BYTES)
