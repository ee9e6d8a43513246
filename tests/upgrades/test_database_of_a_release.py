"""This tree's code on the database of each release there was: it is migrated, read, and played on."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from baohuang.client import DevelopmentIdentity, NotFoundError, connect, connect_history
from baohuang.handrecord import read_record, replay
from baohuang.rules.state import PlayerId, TableId
from command_line.migrating import migrate_all
from command_line.services import BESIDE_TABLES, MATCHMAKING, RATING, SCORING, TABLE
from eventually import eventually
from scoring.test_audit import run
from upgrades.crowds import Crowd, five
from upgrades.fleet import THIS, Fleet
from upgrades.played import QUEUED, Played
from upgrades.releases import Release, releases
from upgrades.restoring import restore
from upgrades.settled import check_all

ANYBODY = DevelopmentIdentity(PlayerId("anybody"))


@pytest.mark.timeout(600)
@pytest.mark.parametrize("release", releases(), ids=lambda release: release.version)
async def test_it_is_migrated_read_and_played_on(servers: Fleet, release: Release) -> None:
    """Restored and migrated, nothing is wrong with it; its hands replay; the one in its middle goes on to its end.

    Timers fire: what came due while nothing ran is extended (TRUST-5), and harms nobody. Points and ratings follow.
    """
    restore(release, servers.dsn)
    await asyncio.to_thread(migrate_all, servers.dsn, BESIDE_TABLES)
    rebuilt = await run(servers.dsn, "rebuild-stream", "--nats-url", servers.nats_url)
    assert rebuilt.exit_code == 0, rebuilt.output
    await check_all(servers.dsn)
    assert await servers.fetched("select count(*) from matchmaking.tickets where player = any ($1)", QUEUED) == 2
    await servers.start(*((service, THIS) for service in (TABLE, SCORING, RATING, MATCHMAKING)))
    played = release.played
    await check_hands(servers, played)
    await check_private(servers, played)
    await goes_on(servers, played)
    await check_all(servers.dsn)


async def check_hands(servers: Fleet, played: Played) -> None:
    """Check that each hand is exported and replays to its end."""
    async with connect_history(servers.address(TABLE), ANYBODY) as history:
        for table_id in played.hands:
            record = read_record(await history.export(TableId(table_id), 1))
            hand = replay(record)[-1].table.hand
            assert hand is not None
            assert hand.result is not None
            assert sum(hand.result.points) == 0


async def check_private(servers: Fleet, played: Played) -> None:
    """Check that the private table is one still: for who has its code."""
    private = TableId(played.private)
    async with connect(servers.address(TABLE), ANYBODY) as anybody:
        await anybody.get_table(private, invitation_code=played.invitation_code)
        with pytest.raises(NotFoundError):
            await anybody.get_table(private)


async def goes_on(servers: Fleet, played: Played) -> None:
    """Have the players of the hand in its middle come back, once its deadline was seen to, and play it to its end."""
    ended = "select count(*) from eventlog.events where stream_id = $1 and type = $2"

    async def extended() -> bool:
        return bool(await servers.fetched(ended, played.middle, "TurnExtended"))

    await eventually(extended, 60)
    async with AsyncExitStack() as stack:
        await Crowd(TableId(played.middle), await five(stack, servers.address(TABLE), played.players)).go_on()
    assert await servers.fetched(ended, played.middle, "HandFinished") == 1
    assert await servers.fetched(ended, played.middle, "PlayerFined") == 0
