"""What goes wrong around matches: double taps, replicas that race or die, poisonous tickets, services that are away."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import asyncpg
import grpc
import pytest

from baohuang.eventlog.port import EventLog
from baohuang.eventlog.postgres.log import open_log
from baohuang.gen.matchmaking.v1 import matchmaking_service_pb2 as pb
from baohuang.gen.table.v1 import table_service_pb2 as table_pb
from baohuang.rules.rulesets import RULESETS
from eventually import eventually
from matchmaking.processes import nobody_there, running
from matchmaking.serving import Service, alone, cancelling, joining, matchmaking
from metrics.scraping import counted
from tables.clients import Client, fresh, refusal
from tables.games import started
from tables.replicas import Replica, replica

FIVE = ("ma", "mb", "mc", "md", "me")
RECOVERY_SECONDS = 5.0
WAITING = "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"


async def tables_at(channel: grpc.aio.Channel) -> Sequence[Sequence[str]]:
    """Return who sits at each table."""
    listed = (await Client(channel, "an").call(table_pb.ListTablesRequest(page_size=100))).tables
    return [list(table.players) for table in listed]


async def states(database: asyncpg.Connection) -> dict[str, str]:
    """Return what became of each player's last ticket."""
    rows = await database.fetch("select player, state from tickets order by made_at")
    return {row["player"]: row["state"] for row in rows}


async def matches(database: asyncpg.Connection) -> list[str]:
    """Return the states of all matches."""
    return [row["state"] for row in await database.fetch("select state from matches order by formed_at")]


@pytest.fixture
async def other(own_database_dsn: str, tables: Replica) -> AsyncIterator[Service]:
    """Give a second replica."""
    async with matchmaking(own_database_dsn, tables.address) as serving:
        yield serving


async def test_a_double_tap(service: Service, other: Service, database: asyncpg.Connection) -> None:
    """A hundred calls of one player at two replicas: one ticket, and every other call names it."""
    calls = [(service, other)[number % 2].caller("an").start(alone()) for number in range(100)]
    replies = await asyncio.gather(*calls, return_exceptions=True)
    (made,) = [reply.ticket.ticket_id for reply in replies if isinstance(reply, pb.CreateTicketResponse)]
    refused = [refusal(reply) for reply in replies if isinstance(reply, grpc.aio.AioRpcError)]
    assert [(one.reason, one.metadata) for one in refused] == [("ALREADY_QUEUED", {"ticket_id": made})] * 99
    assert await database.fetchval("select count(*) from tickets") == 1


async def test_a_retry_storm(service: Service, other: Service, database: asyncpg.Connection) -> None:
    """The same with one request id, as a client that retries: every reply is the same."""
    request = alone()
    replies = await asyncio.gather(*((service, other)[number % 2].caller("an").call(request) for number in range(100)))
    assert all(reply == replies[0] for reply in replies)
    assert await database.fetchval("select count(*) from tickets") == 1


async def test_two_replicas_match_nobody_twice(
    service: Service, other: Service, tables: Replica, database: asyncpg.Connection
) -> None:
    """Forty at once over both: eight tables, each player at one of them."""
    players = [f"p{number}" for number in range(40)]
    await asyncio.gather(
        *((service, other)[number % 2].caller(player).queue() for number, player in enumerate(players))
    )

    async def all_matched() -> bool:
        return set((await states(database)).values()) == {"matched"}

    await eventually(all_matched, within=30.0)
    seated = await tables_at(tables.channel)
    assert sorted(player for table in seated for player in table) == sorted(players)
    assert len(seated) == 8
    assert await matches(database) == ["opened"] * 8


async def test_a_replica_is_killed_before_it_opens_the_table(
    own_database_dsn: str, database: asyncpg.Connection
) -> None:
    """The match is committed and its table service away: another replica seats its players, once, within 5 s."""
    address = nobody_there()

    async def formed() -> bool:
        return await matches(database) == ["formed"]

    async with running(own_database_dsn, address) as doomed:
        for player in FIVE:
            await doomed.caller(player).queue()
        await eventually(formed)
        await doomed.kill()
    async with (
        open_log(own_database_dsn) as log,
        replica(log) as tables,
        matchmaking(own_database_dsn, tables.address) as service,
    ):
        await seated_once(service, tables, database, log)


async def test_a_replica_is_killed_after_it_opened_the_table(
    own_database_dsn: str, tables: Replica, database: asyncpg.Connection
) -> None:
    """The table is there and the match does not know it: another replica finds the same table."""
    other_eyes = await asyncpg.connect(own_database_dsn)
    async with running(own_database_dsn, tables.address) as doomed:
        for player in FIVE[:4]:
            await doomed.caller(player).queue()
        # Whoever notes the table has to close the tickets, and waits for this; the table is opened before that.
        async with database.transaction():
            await database.execute("select 1 from tickets where player = 'ma' for update")
            await doomed.caller(FIVE[4]).queue()

            async def noting() -> int:
                return int(await other_eyes.fetchval(WAITING) or 0)

            pid = await eventually(noting)
            assert await tables_at(tables.channel)
            await doomed.kill()
            # Its statement would be carried out without it.
            assert await other_eyes.fetchval("select pg_terminate_backend($1, 10000)", pid)
    await other_eyes.close()
    assert await matches(database) == ["formed"]
    async with matchmaking(own_database_dsn, tables.address) as service:
        await seated_once(service, tables, database, tables.log)


async def seated_once(service: Service, tables: Replica, database: asyncpg.Connection, log: EventLog) -> None:
    """Check that the five are seated in time, at one table, with no ticket open."""

    async def matched() -> bool:
        return set((await states(database)).values()) == {"matched"}

    await eventually(matched, within=RECOVERY_SECONDS)
    (players,) = await tables_at(tables.channel)
    assert sorted(players) == sorted(FIVE)
    assert await matches(database) == ["opened"]
    assert (await service.caller("an").call(pb.GetQueueRequest(ruleset="ourgame-simple"))).players == 0
    assert len(await log.list_heads()) == 1


async def test_while_the_table_service_is_away(own_database_dsn: str, database: asyncpg.Connection) -> None:
    """The players wait on, as they see it, and can be in no other match; when it is back they are seated."""
    address = nobody_there()
    async with matchmaking(own_database_dsn, address) as service:
        tickets = [await service.caller(player).queue() for player in FIVE]

        async def tried_twice() -> bool:
            return int(await database.fetchval("select max(lease) from matches") or 0) > 1

        await eventually(tried_twice)
        stream = service.caller("ma").start(pb.WatchTicketRequest(ticket_id=tickets[0].ticket_id))
        ticket = (await stream.read()).ticket
        stream.cancel()
        assert (ticket.state, ticket.waiting.place) == (pb.TICKET_STATE_QUEUED, 0)
        assert ticket.waiting.waited_ms > 0
        refused = await service.caller("ma").refused(cancelling(ticket.ticket_id))
        assert refused.reason == "TICKET_CLOSED"
        async with open_log(own_database_dsn) as log, replica(log, listen=address) as tables:
            await seated_once(service, tables, database, log)


async def test_a_replica_that_meets_a_bug_gives_matches_back(
    own_database_dsn: str, tables: Replica, database: asyncpg.Connection
) -> None:
    """It cannot call at all, since no header carries its token: counted, and a sound replica seats the players."""
    unsound = (("authorization", "Bearer x\n"),)
    async with matchmaking(own_database_dsn, tables.address, known_by=unsound) as sick:

        async def given_back() -> bool:
            return bool(await database.fetchval("select leased_until <= clock_timestamp() from matches"))

        for player in FIVE:
            await sick.caller(player).queue()
        await eventually(given_back)
        assert counted(sick.server, "baohuang_bugs_total", "Seating") >= 1
        assert counted(sick.server, "baohuang_matches_put_off_total") >= 1
        async with matchmaking(own_database_dsn, tables.address) as sound:
            await seated_once(sound, tables, database, tables.log)


async def test_a_replica_that_is_not_believed_says_so(
    own_database_dsn: str, tables: Replica, database: asyncpg.Connection
) -> None:
    """Its token is no service's: what it forms and does not seat is counted for as long as it lasts."""
    async with matchmaking(own_database_dsn, tables.address, known_by=(("baohuang-player", "somebody"),)) as service:

        async def put_off_twice() -> bool:
            return counted(service.server, "baohuang_matches_put_off_total") > 1

        for player in FIVE:
            await service.caller(player).queue()
        await eventually(put_off_twice)
        assert counted(service.server, "baohuang_matches_formed_total") == 1
        assert await matches(database) == ["formed"]


async def test_a_banned_player_is_set_aside(service: Service, tables: Replica, database: asyncpg.Connection) -> None:
    """He and nobody else, with the reason; the four are matched with the next, with their old waiting time."""
    olga = Client(tables.channel, "olga")
    olga.metadata = (*olga.metadata, ("baohuang-role", "operator"))
    await olga.call(table_pb.SetBanRequest(request_id=fresh(), player="ma", banned=True, reason="cheated"))
    tickets = {player: await service.caller(player).queue() for player in FIVE}
    since = {row["leader"]: row["queued_at"] for row in await database.fetch("select leader, queued_at from parties")}
    closed = await service.caller("ma").until_closed(tickets["ma"].ticket_id)
    assert (closed.state, closed.set_aside.reason) == (pb.TICKET_STATE_SET_ASIDE, "BANNED")
    assert closed.set_aside.player == "ma"
    await service.caller("next").queue()
    matched = await service.caller("mb").until_closed(tickets["mb"].ticket_id)
    assert sorted(matched.matched.players) == ["mb", "mc", "md", "me", "next"]
    now = {row["leader"]: row["queued_at"] for row in await database.fetch("select leader, queued_at from parties")}
    assert all(now[player] == since[player] for player in FIVE)
    assert await matches(database) == ["dissolved", "opened"]
    queue = await service.caller("an").call(pb.GetQueueRequest(ruleset="ourgame-simple"))
    assert (queue.players, queue.set_aside) == (0, 1)


async def test_who_plays_elsewhere_is_set_aside(service: Service, tables: Replica) -> None:
    """No player in two unfinished hands: his ticket tells why, and he is told no other table's id."""
    game = await started(tables)
    busy = game.clients[0].player
    tickets = {player: await service.caller(player).queue() for player in (busy, *FIVE[1:])}
    closed = await service.caller(busy).until_closed(tickets[busy].ticket_id)
    assert (closed.set_aside.reason, closed.set_aside.player) == ("IN_ANOTHER_HAND", busy)


async def test_a_poisonous_ticket(service: Service, database: asyncpg.Connection) -> None:
    """One that cannot be read any more is set aside, which its player sees; five others behind it are matched."""
    poison = await service.caller("poison").queue()
    await database.execute("""update parties set options = '{"turn_seconds": "soon"}'""")
    tickets = [await service.caller(player).queue() for player in FIVE]
    assert (await service.caller("ma").until_closed(tickets[0].ticket_id)).state == pb.TICKET_STATE_MATCHED
    aside = await service.caller("poison").until_closed(poison.ticket_id)
    assert (aside.state, aside.set_aside.reason) == (pb.TICKET_STATE_SET_ASIDE, "INVALID_FIELD")


async def test_a_party_that_is_not_whole(service: Service, database: asyncpg.Connection) -> None:
    """Somebody's ticket is gone from the database: his party is set aside, and five others behind it are matched."""
    leader = service.caller("leader")
    party = await leader.queue(size=2)
    await service.caller("friend").call(joining(party.party.party_code))
    await database.execute("delete from tickets where ticket_id = $1", party.ticket_id)
    tickets = [await service.caller(player).queue() for player in FIVE]
    assert (await service.caller("ma").until_closed(tickets[0].ticket_id)).state == pb.TICKET_STATE_MATCHED
    assert await database.fetchval("select open from parties where leader = 'leader'") is False


async def test_a_ruleset_that_is_gone(service: Service, database: asyncpg.Connection) -> None:
    """The table is refused whoever plays: all of the match are set aside, and told why."""
    tickets = [
        await service.caller(player).queue(ruleset=ruleset) for player, ruleset in zip(FIVE, RULESETS, strict=False)
    ]
    await database.execute(
        "update parties set ruleset = 'poker', options = (select min(options::text)::jsonb from parties)"
    )
    for player, ticket in zip(FIVE, tickets, strict=True):
        closed = await service.caller(player).until_closed(ticket.ticket_id)
        assert closed.state == pb.TICKET_STATE_SET_ASIDE
        assert (closed.set_aside.reason, closed.set_aside.player) == ("UNKNOWN_RULESET", "")


async def test_a_party_that_is_locked_keeps_nobody_waiting(service: Service, database: asyncpg.Connection) -> None:
    """One is held by a transaction that does not end: five others are matched; then it is as any other."""
    held = await service.caller("held").queue()
    async with database.transaction():
        await database.execute("select 1 from parties where leader = 'held' for update")
        tickets = [await service.caller(player).queue() for player in FIVE]
        await service.caller("ma").until_closed(tickets[0].ticket_id)
    for player in ("q1", "q2", "q3"):
        await service.caller(player).queue()
    await service.caller("q4").queue()
    assert (await service.caller("held").until_closed(held.ticket_id)).state == pb.TICKET_STATE_MATCHED
