"""HistoryService, what of it changes something."""

from collections.abc import Awaitable, Callable
from typing import Any

import grpc

from baohuang.gen.history.v1 import history_service_pb2 as pb
from baohuang.gen.history.v1 import history_service_pb2_grpc
from baohuang.rpc.auth import Role
from baohuang.rpc.roles import require

Context = grpc.aio.ServicerContext[Any, Any]
Reverse = Callable[[pb.ReverseRulingRequest, Context], Awaitable[pb.ReverseRulingResponse]]
"""Takes a ruling back, here or where tables are served."""


class ReversingServicer(history_service_pb2_grpc.HistoryServiceServicer):
    """Serves the contract; see `baohuang/history/v1/history_service.proto` for what each call promises."""

    def __init__(self, reverse: Reverse) -> None:
        self._reverse = reverse

    @require(Role.OPERATOR)
    async def ReverseRuling(self, request: pb.ReverseRulingRequest, context: Context) -> pb.ReverseRulingResponse:
        """Take a ruling back; for operators."""
        return await self._reverse(request, context)
