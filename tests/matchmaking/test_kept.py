"""What was done is kept for a stated time and then purged; what went wrong can be seen."""

import asyncio
import math

import asyncpg
from structlog.testing import capture_logs

from baohuang.gen.matchmaking.v1 import matchmaking_service_pb2 as pb
from baohuang.rpc.bounds import DAY_SECONDS
from eventually import eventually
from matchmaking.serving import Service, alone, cancelling, matchmaking, paced
from tables.replicas import Replica

FIVE = ("an", "bo", "chen", "deng", "er")
TABLES = ("tickets", "parties", "matches", "requests")
QUEUE = pb.GetQueueRequest(ruleset="ourgame-simple")


async def rows(database: asyncpg.Connection) -> list[int]:
    """Return how many rows each table has."""
    return [await database.fetchval(f"select count(*) from {table}") for table in TABLES]  # noqa: S608 (of constants)


async def aged(database: asyncpg.Connection) -> None:
    """Make all that is there two hours older."""
    for table, column in (
        ("tickets", "made_at"),
        ("parties", "opened_at"),
        ("matches", "formed_at"),
        ("requests", "made_at"),
    ):
        await database.execute(f"update {table} set {column} = {column} - interval '2 hours'")  # noqa: S608 (as above)


async def test_what_is_old_is_purged(own_database_dsn: str, tables: Replica, database: asyncpg.Connection) -> None:
    """Tickets matched and cancelled, their parties, match and requests; what is open or younger stays."""
    kept = paced(kept=3600.0, purge=0.05, ticket_lifetime=36_000.0)
    async with matchmaking(own_database_dsn, tables.address, pace=kept) as service:
        made = [await service.caller(player).queue() for player in FIVE]
        await asyncio.gather(
            *(service.caller(player).until_closed(one.ticket_id) for player, one in zip(FIVE, made, strict=True))
        )
        gone = await service.caller("gone").queue()
        await service.caller("gone").call(cancelling(gone.ticket_id))
        waits = await service.caller("waits").queue()
        assert await rows(database) == [7, 7, 1, 8]
        await aged(database)
        await database.execute("update requests set made_at = clock_timestamp() where caller = 'waits'")
        young = await service.caller("young").queue()
        await service.caller("young").call(cancelling(young.ticket_id))

        async def purged() -> bool:
            return await rows(database) == [2, 2, 0, 3]

        await eventually(purged)
        assert (await service.caller("waits").refused(alone())).metadata == {"ticket_id": waits.ticket_id}
        assert (await service.caller("an").queue()).ticket_id


async def test_the_longest_times_that_settings_take_can_be_reckoned_with(
    own_database_dsn: str, tables: Replica, database: asyncpg.Connection
) -> None:
    """A day in the queue and a hundred years of memory: five are seated, nothing is purged, and no statement fails."""
    longest = paced(kept=36_500.0 * DAY_SECONDS, purge=0.05, ticket_lifetime=DAY_SECONDS, fill_with_bots_after=math.inf)
    with capture_logs() as lines:
        async with matchmaking(own_database_dsn, tables.address, pace=longest) as service:
            made = [await service.caller(player).queue() for player in FIVE]
            closed = await service.caller("an").until_closed(made[0].ticket_id)
            assert closed.state == pb.TICKET_STATE_MATCHED
    assert await rows(database) == [5, 5, 1, 5]
    assert [line["event"] for line in lines if line["log_level"] in {"warning", "error"}] == []


async def test_a_match_that_is_not_opened_is_not_purged(own_database_dsn: str, database: asyncpg.Connection) -> None:
    """However old: its players wait for a table."""
    async with matchmaking(own_database_dsn, "127.0.0.1:1", pace=paced(kept=3600.0, purge=0.05)) as service:
        for player in FIVE:
            await service.caller(player).queue()

        async def formed() -> bool:
            return bool(await database.fetchval("select count(*) from matches"))

        await eventually(formed)
        await aged(database)

        async def requests_purged() -> bool:
            return (await rows(database))[3] == 0

        await eventually(requests_purged)
        late = await service.caller("late").queue()
        await service.caller("late").call(cancelling(late.ticket_id))
        assert (await rows(database))[:3] == [6, 6, 1]


async def test_what_expired_is_seen(own_database_dsn: str, tables: Replica, database: asyncpg.Connection) -> None:
    """By its player as a ticket, by all as a number, by operators with the ticket."""
    async with matchmaking(own_database_dsn, tables.address, pace=paced(ticket_lifetime=0.2)) as service:
        ticket = await service.caller("an").queue()
        closed = await service.caller("an").until_closed(ticket.ticket_id)
        assert closed.state == pb.TICKET_STATE_EXPIRED
        seen = await service.caller("bo").call(QUEUE)
        assert (seen.players, seen.expired, seen.set_aside, len(seen.gone_wrong)) == (0, 1, 0, 0)
        (listed,) = (await service.caller("olga", "operator").call(QUEUE)).gone_wrong
        assert listed == closed


async def test_what_is_poisonous_is_seen(service: Service, database: asyncpg.Connection) -> None:
    """An operator finds the ticket with the reason, the last one first, and not that of another queue."""
    for player in ("an", "bo"):
        ticket = await service.caller(player).queue()
        await database.execute("update parties set match_id = null, open = false where leader = $1", player)
        await database.execute(
            "update tickets set state = 'set_aside', reason = 'BANNED', culprit = player, closed_at = clock_timestamp()"
            " where ticket_id = $1",
            ticket.ticket_id,
        )
    seen = await service.caller("olga", "operator").call(QUEUE)
    assert [(one.player, one.set_aside.reason) for one in seen.gone_wrong] == [("bo", "BANNED"), ("an", "BANNED")]
    assert (seen.set_aside, seen.expired) == (2, 0)
    other = await service.caller("olga", "operator").call(pb.GetQueueRequest(ruleset="homy-standard"))
    assert not other.gone_wrong
