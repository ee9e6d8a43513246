"""MatchmakingService: from stub to desk and back."""

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

import grpc

from baohuang.gen.matchmaking.v1 import matchmaking_service_pb2 as pb
from baohuang.gen.matchmaking.v1 import matchmaking_service_pb2_grpc
from matchmaking_service import api
from matchmaking_service.desk import Desk
from matchmaking_service.tickets import Ticket
from matchmaking_service.watching import Watching

Context = grpc.aio.ServicerContext[Any, Any]


class MatchmakingServicer(matchmaking_service_pb2_grpc.MatchmakingServiceServicer):
    """Serves the contract; see `baohuang/matchmaking/v1/matchmaking_service.proto` for what each call promises.

    `came` is called when a call has queued somebody.
    """

    def __init__(self, desk: Desk, watching: Watching, came: Callable[[], None]) -> None:
        self._desk = desk
        self._watching = watching
        self._came = came

    async def CreateTicket(self, request: pb.CreateTicketRequest, context: Context) -> pb.CreateTicketResponse:
        """Queue the caller; a retry finds the ticket that was made first."""
        made = await self._desk.create(api.request_in(request), api.wish_in(request))
        self._came()
        if isinstance(made, Ticket) and len(made.players) > 1:
            self._watching.changed((made.party_id,))
        return api.created(made)

    async def CancelTicket(self, request: pb.CancelTicketRequest, context: Context) -> pb.CancelTicketResponse:
        """Take the caller out of the queue."""
        ticket_id = api.ticket_id_in(request.ticket_id)
        answer = await self._desk.cancel(api.request_in(request), ticket_id, api.cancelled)
        self._watching.poke()
        return pb.CancelTicketResponse.FromString(answer)

    async def WatchTicket(
        self, request: pb.WatchTicketRequest, context: Context
    ) -> AsyncIterator[pb.WatchTicketResponse]:
        """Stream a ticket."""
        ticket_id, after = api.ticket_id_in(request.ticket_id), api.after_revision_in(request)
        async with aclosing(self._watching.messages(ticket_id, after, api.check_may_see)) as messages:
            async for message in messages:
                yield api.stream_message(message)

    async def GetQueue(self, request: pb.GetQueueRequest, context: Context) -> pb.GetQueueResponse:
        """Return how long a queue is."""
        queue = api.queue_in(request)
        wrong = await self._desk.gone_wrong(queue) if api.may_see_all() else ()
        return api.queue_message(await self._desk.queue(queue), wrong)
