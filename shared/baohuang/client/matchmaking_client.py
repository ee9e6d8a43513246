"""One player's client of the matchmaking service."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace

import grpc

from baohuang.client.calls import Calls, channel_to
from baohuang.client.commands import fresh_id
from baohuang.client.patience import Patience
from baohuang.client.reading import Reading, Stream, StreamEndedError
from baohuang.client.requests import made, part
from baohuang.client.tickets import QueueLength, Ticket, TicketId, TicketState, Waiting
from baohuang.eventlog.port import RequestId
from baohuang.gen.matchmaking.v1 import matchmaking_service_pb2 as pb
from baohuang.gen.matchmaking.v1 import matchmaking_service_pb2_grpc
from baohuang.gen.rules.v1 import ruleset_pb2
from baohuang.rpc.credentials import Credentials
from baohuang.rpc.messages import from_proto
from baohuang.rules.rulesets import Options
from baohuang.tls.files import Tls


class MatchmakingClient:
    """Tickets of one player.

    Calls that change something carry a fresh request id and are sent again with the same one while the service does
    not answer; give `request_id` to go on with one from before. They raise RefusedError and its kinds,
    UnreachableError, FaultError.
    """

    def __init__(self, channel: grpc.aio.Channel, credentials: Credentials, patience: Patience | None = None) -> None:
        self._stub = matchmaking_service_pb2_grpc.MatchmakingServiceStub(channel)
        self._calls = Calls(credentials, patience)

    async def create_ticket(
        self, ruleset: str, options: Options | None = None, *, size: int = 1, request_id: RequestId | None = None
    ) -> Ticket:
        """Queue, alone or, with a `size` of 2 to 5, at the head of a party: its ticket has the code for the others."""
        party = made(pb.NewParty, ruleset=ruleset, options=_options(options), size=size)
        return await self._create(made(pb.CreateTicketRequest, request_id=request_id or fresh_id(), new_party=party))

    async def join_party(self, party_code: str, *, request_id: RequestId | None = None) -> Ticket:
        """Queue with the party whose leader gave the code."""
        return await self._create(
            made(pb.CreateTicketRequest, request_id=request_id or fresh_id(), party_code=party_code)
        )

    async def cancel_ticket(self, ticket_id: TicketId, *, request_id: RequestId | None = None) -> Ticket:
        """Leave the queue; MoveRefusedError with TICKET_CLOSED once a match is formed."""
        request = made(pb.CancelTicketRequest, request_id=request_id or fresh_id(), ticket_id=ticket_id)
        return from_proto((await self._calls.make(self._stub.CancelTicket, request)).ticket, Ticket)

    async def queue(self, ruleset: str, options: Options | None = None) -> QueueLength:
        """Return how long a queue is."""
        request = made(pb.GetQueueRequest, ruleset=ruleset, options=_options(options))
        return from_proto(await self._calls.make(self._stub.GetQueue, request), QueueLength)

    async def watch(self, ticket_id: TicketId) -> AsyncGenerator[Ticket, None]:
        """Yield the ticket as it is now, whenever it changes, and every few seconds as it waits, until it is closed.

        Lost streams are resumed. Raises RefusedError and its kinds, UnreachableError, FaultError.
        """
        known: Ticket | None = None
        reading = Reading("the ticket", self._calls.patience, _check)

        def open_stream() -> Stream:
            after = known.revision if known else None
            request = made(pb.WatchTicketRequest, ticket_id=ticket_id, after_revision=after)
            return self._calls.open(self._stub.WatchTicket, request)

        opened = reading.first
        while True:
            stream, message = await opened(open_stream)
            opened = reading.another
            try:
                while True:
                    if known := _learnt(known, message):
                        yield known
                        if known.state is not TicketState.QUEUED:
                            return
                    message = await reading.next(stream)
            except StreamEndedError:
                await reading.spread()
            finally:
                stream.cancel()

    async def closed(self, ticket_id: TicketId) -> Ticket:
        """Wait until the ticket is closed, and return it then. Raises what `watch` does."""
        async with aclosing(self.watch(ticket_id)) as tickets:
            async for ticket in tickets:
                if ticket.state is not TicketState.QUEUED:
                    return ticket
        raise AssertionError("a watch ends with the ticket closed")

    async def _create(self, request: pb.CreateTicketRequest) -> Ticket:
        return from_proto((await self._calls.make(self._stub.CreateTicket, request)).ticket, Ticket)


@asynccontextmanager
async def connect_matchmaking(
    address: str, credentials: Credentials, patience: Patience | None = None, *, tls: Tls | None = None
) -> AsyncIterator[MatchmakingClient]:
    """Give a client of the matchmaking service at "host:port" on a connection of its own, closed at exit.

    With `tls` over TLS. Raises CertificateError when its files are not sound.
    """
    async with channel_to(address, tls) as channel:
        yield MatchmakingClient(channel, credentials, patience)


def _options(options: Options | None) -> ruleset_pb2.Options:
    return part(options or Options(), ruleset_pb2.Options, "options")


def _check(message: pb.WatchTicketResponse) -> None:
    if message.HasField("reconnect"):
        raise StreamEndedError("the service sends its watchers away")


def _learnt(known: Ticket | None, message: pb.WatchTicketResponse) -> Ticket | None:
    """Return the ticket as the message leaves it; what is newer than this client tells nothing."""
    match message.WhichOneof("message"):
        case "ticket":
            return from_proto(message.ticket, Ticket)
        case "waiting" if known is not None:
            return replace(known, waiting=from_proto(message.waiting, Waiting))
    return known
