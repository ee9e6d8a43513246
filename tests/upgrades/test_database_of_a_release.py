"""This tree's code on the database of each release there was: it is migrated, read, and played on."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from baohuang.client import DevelopmentIdentity, NotFoundError, connect, connect_history
from baohuang.handrecord import read_record, replay
from baohuang.rules.state import PlayerId, TableId
from baohuang.stream.permissions import NatsUser
from command_line.migrating import migrate_all
from command_line.services import BESIDE_TABLES
from eventually import eventually
from fleet.code import THIS
from fleet.companies import Company, fetched, five
from fleet.fleet import Fleet, Place, fleet_on
from fleet.settled import check_all
from scoring.test_audit import run
from upgrades.played import QUEUED, Played
from upgrades.releases import Release, releases
from upgrades.restoring import restore

ANYBODY = DevelopmentIdentity(PlayerId("anybody"))


@pytest.mark.timeout(600)
@pytest.mark.parametrize("release", releases(), ids=lambda release: release.version)
async def test_it_is_migrated_read_and_played_on(empty_place: Place, release: Release) -> None:
    """Restored and migrated, nothing is wrong with it; its hands replay; the one in its middle goes on to its end.

    Timers fire: what came due while nothing ran is extended (TRUST-5), and harms nobody. Points and ratings follow.
    """
    dsn = empty_place.dsn
    restore(release, dsn)
    await asyncio.to_thread(migrate_all, dsn, BESIDE_TABLES)
    rebuilt = await run(dsn, "rebuild-stream", "--nats-url", empty_place.nats.url_of(NatsUser.OPERATOR))
    assert rebuilt.exit_code == 0, rebuilt.output
    await check_all(dsn)
    assert await fetched(dsn, "select count(*) from matchmaking.tickets where player = any ($1)", QUEUED) == 2
    async with fleet_on(empty_place) as servers:
        await servers.start_all(*((service, THIS) for service in ("table", "scoring", "rating", "matchmaking")))
        await check_hands(servers, release.played)
        await check_private(servers, release.played)
        await goes_on(servers, dsn, release.played)
        await check_all(dsn)


async def check_hands(servers: Fleet, played: Played) -> None:
    """Check that each hand is exported and replays to its end."""
    async with connect_history(servers.address_of("table"), ANYBODY) as history:
        for table_id in played.hands:
            record = read_record(await history.export(TableId(table_id), 1))
            hand = replay(record)[-1].table.hand
            assert hand is not None
            assert hand.result is not None
            assert sum(hand.result.points) == 0


async def check_private(servers: Fleet, played: Played) -> None:
    """Check that the private table is one still: for who has its code."""
    private = TableId(played.private)
    async with connect(servers.address_of("table"), ANYBODY) as anybody:
        await anybody.get_table(private, invitation_code=played.invitation_code)
        with pytest.raises(NotFoundError):
            await anybody.get_table(private)


async def goes_on(servers: Fleet, dsn: str, played: Played) -> None:
    """Have the players of the hand in its middle come back, once its deadline was seen to, and play it to its end."""
    ended = "select count(*) from eventlog.events where stream_id = $1 and type = $2"

    async def extended() -> bool:
        return bool(await fetched(dsn, ended, played.middle, "TurnExtended"))

    await eventually(extended, 60)
    async with AsyncExitStack() as stack:
        await Company(TableId(played.middle), await five(stack, servers.address_of("table"), played.players)).go_on()
    assert await fetched(dsn, ended, played.middle, "HandFinished") == 1
    assert await fetched(dsn, ended, played.middle, "PlayerFined") == 0
