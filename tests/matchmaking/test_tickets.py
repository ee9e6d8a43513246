"""Tickets over gRPC: made, joined, watched, cancelled; what is refused."""

import asyncio

import asyncpg
import grpc
import pytest

from baohuang.gen.matchmaking.v1 import matchmaking_service_pb2 as pb
from baohuang.gen.rules.v1 import ruleset_pb2
from baohuang.gen.table.v1 import table_service_pb2 as table_pb
from eventually import eventually
from matchmaking.serving import EOF, Service, alone, cancelling, joining, matchmaking, news, paced
from tables.clients import Client, refusal
from tables.replicas import Replica

FIVE = ("an", "bo", "chen", "deng", "er")


async def test_five_who_wait_sit_at_one_table(service: Service, tables: Replica) -> None:
    """Each is told where he sits, all the same; the table has them, and there is no other."""
    made = [await service.caller(player).queue() for player in FIVE]
    closed = await asyncio.gather(
        *(service.caller(player).until_closed(ticket.ticket_id) for player, ticket in zip(FIVE, made, strict=True))
    )
    assert {ticket.state for ticket in closed} == {pb.TICKET_STATE_MATCHED}
    (table_id,) = {ticket.matched.table_id for ticket in closed}
    listed = (await Client(tables.channel, "an").call(table_pb.ListTablesRequest())).tables
    assert [table.table_id for table in listed] == [table_id]
    assert sorted(listed[0].players) == sorted(FIVE)
    for ticket in closed:
        assert list(ticket.matched.players) == list(listed[0].players)
        assert listed[0].players[ticket.matched.seat] == ticket.player


async def test_friends_come_together(service: Service) -> None:
    """Three with a code and two alone; the party waits from the moment it is complete, and its watcher sees it grow."""
    leader = service.caller("an")
    ticket = await leader.queue(size=3)
    assert (ticket.party.size, list(ticket.party.players), ticket.waiting.place) == (3, ["an"], 0)
    others = [await service.caller(player).queue() for player in ("deng", "er")]
    assert [other.waiting.place for other in others] == [1, 2]
    stream = leader.start(pb.WatchTicketRequest(ticket_id=ticket.ticket_id, after_revision=ticket.revision))
    for player in ("bo", "chen"):
        joined = (await service.caller(player).call(joining(ticket.party.party_code))).ticket
        assert joined.party.party_code == ""
    grown = [list(message.ticket.party.players) async for message in stream if message.HasField("ticket")]
    assert grown[-1] == ["an", "bo", "chen"]
    closed = await leader.until_closed(ticket.ticket_id)
    assert sorted(closed.matched.players) == sorted(FIVE)


async def test_one_open_ticket_a_player(service: Service) -> None:
    """Another one is refused and names the first, whether alone or with friends; the first cancelled, it is made."""
    an, friend = service.caller("an"), await service.caller("bo").queue(size=2)
    ticket = await an.queue()
    for request in (alone(), alone("homy-standard"), joining(friend.party.party_code)):
        refused = await an.refused(request)
        assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "ALREADY_QUEUED")
        assert refused.metadata == {"ticket_id": ticket.ticket_id}
    await an.call(cancelling(ticket.ticket_id))
    assert (await an.call(joining(friend.party.party_code))).ticket.party.players == ["bo", "an"]


async def test_a_retry_gets_the_first_outcome(service: Service, database: asyncpg.Connection) -> None:
    """CreateTicket and CancelTicket: the same answer whatever happened since; another body is refused."""
    an, request = service.caller("an"), alone()
    first = await an.call(request)
    cancel = cancelling(first.ticket.ticket_id)
    cancelled = await an.call(cancel)
    assert cancelled.ticket.state == pb.TICKET_STATE_CANCELLED
    assert await an.call(request) == first
    assert await an.call(cancel) == cancelled
    for other in (alone("homy-standard"), alone(size=2), joining("code")):
        other.request_id = request.request_id
        refused = await an.refused(other)
        assert (refused.reason, refused.fields) == ("REQUEST_ID_REUSED", ("request_id",))
    assert await database.fetchval("select count(*) from tickets") == 1


async def test_a_refused_call_leaves_no_trace(service: Service, database: asyncpg.Connection) -> None:
    """Its id is free for another request."""
    request = joining("nobodys-code")
    assert (await service.caller("an").refused(request)).reason == "NO_SUCH_PARTY"
    other = alone()
    other.request_id = request.request_id
    assert (await service.caller("an").call(other)).ticket.ticket_id
    assert await database.fetchval("select count(*) from requests") == 1


async def test_a_party_has_its_size(service: Service) -> None:
    """Who comes when it is full is refused, with nobody's code as well; a party of one is full."""
    ticket = await service.caller("an").queue(size=2)
    await service.caller("bo").call(joining(ticket.party.party_code))
    refused = await service.caller("chen").refused(joining(ticket.party.party_code))
    assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "PARTY_FULL")
    assert not (await service.caller("chen").queue()).party.party_code


async def test_who_leaves_a_party(service: Service) -> None:
    """A friend's place is free again and the others wait for another; the leader takes all with him."""
    ticket = await service.caller("an").queue(size=2)
    friend = (await service.caller("bo").call(joining(ticket.party.party_code))).ticket
    assert friend.waiting.place == 1
    await service.caller("bo").call(cancelling(friend.ticket_id))
    other = (await service.caller("chen").call(joining(ticket.party.party_code))).ticket
    assert list(other.party.players) == ["an", "chen"]
    await service.caller("an").call(cancelling(ticket.ticket_id))
    closed = await service.caller("chen").until_closed(other.ticket_id)
    assert closed.state == pb.TICKET_STATE_CANCELLED
    assert (await service.caller("deng").refused(joining(ticket.party.party_code))).reason == "NO_SUCH_PARTY"


async def test_a_closed_ticket_stays_closed(service: Service) -> None:
    """Cancelling it again under another id is refused."""
    ticket = await service.caller("an").queue()
    await service.caller("an").call(cancelling(ticket.ticket_id))
    refused = await service.caller("an").refused(cancelling(ticket.ticket_id))
    assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "TICKET_CLOSED")


async def test_a_ticket_is_its_players(service: Service) -> None:
    """For others there is none, watching or cancelling; an operator may watch it."""
    ticket = await service.caller("an").queue()
    for ticket_id in (ticket.ticket_id, "0" * 36, "none", ""):
        for request in (pb.WatchTicketRequest(ticket_id=ticket_id), cancelling(ticket_id)):
            player = "bo" if ticket_id == ticket.ticket_id else "an"
            refused = await refused_of(service, player, request)
            assert refused == (grpc.StatusCode.NOT_FOUND, "NO_SUCH_TICKET")
    stream = service.caller("olga", "operator").start(pb.WatchTicketRequest(ticket_id=ticket.ticket_id))
    assert (await stream.read()).ticket.player == "an"
    stream.cancel()


async def refused_of(
    service: Service, player: str, request: pb.WatchTicketRequest | pb.CancelTicketRequest
) -> tuple[grpc.StatusCode, str]:
    """Make a call that has to be refused, unary or not."""
    caller = service.caller(player)
    if isinstance(request, pb.CancelTicketRequest):
        refused = await caller.refused(request)
    else:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await caller.until_closed(request.ticket_id)
        refused = refusal(caught.value)
    return refused.code, refused.reason


@pytest.mark.parametrize(
    ("request_", "reason", "field"),
    [
        (pb.CreateTicketRequest(request_id=""), "INVALID_FIELD", "request_id"),
        (pb.CreateTicketRequest(request_id="r"), "INVALID_FIELD", "party"),
        (alone("poker"), "UNKNOWN_RULESET", "new_party.ruleset"),
        (alone(size=6), "INVALID_FIELD", "new_party.size"),
        (alone(size=-1), "INVALID_FIELD", "new_party.size"),
        (alone("homy-standard", seize=True), "OPTION_NOT_OFFERED", "new_party.options.seize"),
        (alone(hold6=True), "OPTION_NOT_OFFERED", "new_party.options.hold6"),
        (alone(turn_seconds=1), "OPTION_NOT_OFFERED", "new_party.options.turn_seconds"),
        (pb.GetQueueRequest(ruleset="poker"), "UNKNOWN_RULESET", "ruleset"),
    ],
)
async def test_what_is_malformed(
    service: Service, request_: pb.CreateTicketRequest | pb.GetQueueRequest, reason: str, field: str
) -> None:
    """INVALID_ARGUMENT, and the field is named by its path."""
    refused = await service.caller("an").refused(request_)
    assert (refused.code, refused.reason, refused.fields) == (grpc.StatusCode.INVALID_ARGUMENT, reason, (field,))


async def test_who_plays_the_same_waits_together(service: Service) -> None:
    """An option set to what the ruleset has anyway is not set; other rulesets and options are other queues."""
    await service.caller("an").queue(ruleset="ourgame-classic", seize=True)
    await service.caller("bo").queue(ruleset="ourgame-classic", turn_seconds=30, short_deck=False)
    await service.caller("chen").queue(ruleset="ourgame-classic", seize=False)
    await service.caller("deng").queue(ruleset="ourgame-simple")
    queue = await service.caller("er").call(pb.GetQueueRequest(ruleset="ourgame-classic"))
    assert (queue.players, queue.parties, queue.set_aside) == (2, 2, 0)
    assert queue.longest_wait_ms > 0
    off = pb.GetQueueRequest(ruleset="ourgame-classic", options=ruleset_pb2.Options(seize=False))
    assert (await service.caller("er").call(off)).players == 1


async def test_a_ticket_expires(own_database_dsn: str, tables: Replica) -> None:
    """Its whole party with it, complete or not; then another may be made."""
    async with matchmaking(own_database_dsn, tables.address, pace=paced(ticket_lifetime=0.2)) as service:
        ticket = await service.caller("an").queue(size=2)
        assert (await service.caller("an").until_closed(ticket.ticket_id)).state == pb.TICKET_STATE_EXPIRED
        assert (await service.caller("an").queue()).ticket_id != ticket.ticket_id


async def test_bots_fill_a_match_where_they_may(own_database_dsn: str, tables: Replica) -> None:
    """After the wait the seats for which nobody came are bots'; without the option one waits on."""
    async with matchmaking(own_database_dsn, tables.address, pace=paced(fill_with_bots_after=0.3)) as service:
        alone_ = await service.caller("er").queue()
        ticket = await service.caller("an").queue(bots=True)
        closed = await service.caller("an").until_closed(ticket.ticket_id)
        assert sum(player.startswith("bot:") for player in closed.matched.players) == 4
        stream = service.caller("er").start(pb.WatchTicketRequest(ticket_id=alone_.ticket_id))
        assert (await stream.read()).ticket.state == pb.TICKET_STATE_QUEUED
        stream.cancel()


async def test_a_watch_is_resumed(service: Service) -> None:
    """After the revision one has nothing is sent twice: a sign of life first, and the change when it comes."""
    an = service.caller("an")
    ticket = await an.queue()
    request = pb.WatchTicketRequest(ticket_id=ticket.ticket_id, after_revision=ticket.revision)
    stream = an.start(request)
    assert (await stream.read()).waiting.place == 1
    await an.call(cancelling(ticket.ticket_id))
    message = await news(stream)
    assert (message.ticket.state, message.ticket.revision) == (pb.TICKET_STATE_CANCELLED, ticket.revision + 1)
    assert await stream.read() is EOF
    assert await stream.code() == grpc.StatusCode.OK


async def test_a_closed_ticket_is_told_to_whoever_has_it(service: Service) -> None:
    """Whatever revision he has: how it ended, once, and the stream is over."""
    an = service.caller("an")
    ticket = await an.queue()
    await an.call(cancelling(ticket.ticket_id))
    stream = an.start(pb.WatchTicketRequest(ticket_id=ticket.ticket_id, after_revision=ticket.revision + 1))
    assert (await stream.read()).ticket.state == pb.TICKET_STATE_CANCELLED
    assert await stream.read() is EOF


async def test_a_found_match_is_told_before_its_table_is_there(
    own_database_dsn: str, database: asyncpg.Connection
) -> None:
    """At once, the revision being what it was: the ticket's match is found, and it is in no place of the queue."""
    async with matchmaking(own_database_dsn, "127.0.0.1:1") as service:
        ticket = await service.caller("an").queue()
        stream = service.caller("an").start(pb.WatchTicketRequest(ticket_id=ticket.ticket_id))
        first = (await stream.read()).ticket
        assert (first.waiting.place, first.waiting.match_found) == (1, False)
        for player in FIVE[1:]:
            await service.caller(player).queue()
        async with asyncio.timeout(4.0):
            while not (told := (await stream.read()).waiting).match_found:
                pass
        assert told.place == 0
        stream.cancel()


async def test_a_drain_sends_watchers_away(service: Service) -> None:
    """With the revision to go on from, and status OK."""
    ticket = await service.caller("an").queue()
    stream = service.caller("an").start(pb.WatchTicketRequest(ticket_id=ticket.ticket_id))
    assert (await stream.read()).ticket.revision == 1
    service.watching.drain()
    assert (await news(stream)).reconnect.revision == 1
    assert await stream.read() is EOF
    assert await stream.code() == grpc.StatusCode.OK


async def test_a_stream_reaches_its_age(own_database_dsn: str, tables: Replica) -> None:
    """Then it ends in order, so that the next one may reach another replica."""
    async with matchmaking(own_database_dsn, tables.address, max_connection_age_seconds=0.5) as service:
        ticket = await service.caller("an").queue()
        stream = service.caller("an").start(pb.WatchTicketRequest(ticket_id=ticket.ticket_id))
        messages = [message async for message in stream]
        assert messages[-1].reconnect.revision == 1


async def test_another_replicas_change_is_told(own_database_dsn: str, tables: Replica, service: Service) -> None:
    """Within a poll: made and watched here, cancelled there."""
    ticket = await service.caller("an").queue()
    watched = asyncio.create_task(service.caller("an").until_closed(ticket.ticket_id))
    async with matchmaking(own_database_dsn, tables.address) as other:
        await other.caller("an").call(cancelling(ticket.ticket_id))
        assert (await watched).state == pb.TICKET_STATE_CANCELLED


async def test_without_a_database(service: Service, database: asyncpg.Connection) -> None:
    """UNAVAILABLE, STORE_UNAVAILABLE, and none a bug of ours; when it is back, so is the service."""
    ticket = await service.caller("an").queue()
    await database.execute("revoke usage on schema matchmaking from baohuang_matchmaking")
    for request in (alone(), cancelling(ticket.ticket_id), pb.GetQueueRequest(ruleset="ourgame-simple")):
        refused = await service.caller("bo").refused(request)
        assert (refused.code, refused.reason) == (grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE")
    await database.execute("grant usage on schema matchmaking to baohuang_matchmaking")
    tickets = [await service.caller(player).queue() for player in FIVE[1:]]

    async def matched() -> bool:
        states = await database.fetch("select state from tickets")
        return {row["state"] for row in states} == {"matched"}

    assert len(tickets) == 4
    await eventually(matched)
