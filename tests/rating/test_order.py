import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import asyncpg
import pytest

from baohuang.database.pool import Connection
from baohuang.eventlog.port import LogUnavailable
from baohuang.rules.state import Instant, TableId
from baohuang.scoring.events import PostingNumber, PostingSkipped
from baohuang.stream.port import Message
from bench.random_player import chance_of
from rating.following import Ratings, points_after, standings_after
from rating.postings import message, some_postings
from rating_service.ratings import rate

A_MONTH = timedelta(days=31)


async def test_delivered_five_times_out_of_order_to_several_replicas(ratings: Ratings) -> None:
    """Skills are, to the bit, those computed in the ledger's order; a gap waits; nothing counts twice.

    The postings span seasons, hold void hands and fines, and players change their sides.
    """
    postings = some_postings(40, step=A_MONTH / 4)
    messages = [message(posted) for posted in postings]
    dice = chance_of("rating")

    async def deliver() -> None:
        replica = ratings.replica()
        reached = 0
        for _ in range(5):
            waiting = dice.sample(messages, len(messages))
            while waiting:
                count = dice.randint(1, 20)
                reached = await replica.take(waiting[:count])
                del waiting[:count]
        while reached < len(messages):
            reached = await replica.take(dice.sample(messages, len(messages)))

    await asyncio.gather(*(deliver() for _ in range(3)))
    assert await ratings.standings() == standings_after(postings)
    assert await ratings.points() == points_after(postings)
    seasons = {season for _, season in await ratings.standings()}
    assert len(seasons) > 2


async def test_a_gap_waits(ratings: Ratings) -> None:
    """Posting 3 before 2 changes nothing: it is applied when 2 has been."""
    postings = some_postings(6)[:3]
    first, second, third = map(message, postings)
    replica = ratings.replica()
    assert await replica.take([first, third]) == 1
    assert await ratings.standings() == standings_after(postings[:1])
    assert await replica.take([second]) == 2
    assert await replica.take([third]) == 3
    assert await ratings.standings() == standings_after(postings)


async def test_killed_between_effect_and_commit(ratings: Ratings, own_database_dsn: str) -> None:
    """Nothing of it is left, and another replica applies it once."""
    postings = some_postings(10)
    admin = await asyncpg.connect(own_database_dsn)

    async def rate_and_die(connection: Connection, given: Sequence[Message]) -> None:
        await rate(connection, given)
        assert await connection.fetchval("select count(*) from standings") > 0
        await admin.execute("select pg_terminate_backend($1)", connection.get_server_pid())
        await connection.execute("select pg_sleep(60)")

    with pytest.raises(LogUnavailable):
        await ratings.replica(rate_and_die).take([message(posted) for posted in postings])
    assert await ratings.standings() == {}
    await admin.close()
    for _ in range(2):
        await ratings.follow(postings)
    assert await ratings.standings() == standings_after(postings)
    assert await ratings.points() == points_after(postings)


async def test_a_skipped_posting_is_passed_over(ratings: Ratings) -> None:
    """Its number is gone past, and nobody's rating or points change."""
    postings = list(some_postings(6)[:3])
    skipped = PostingSkipped(PostingNumber(2), TableId("t"), 5, Instant("2026-11-30T08:05:09.000123Z"), "broken")
    await ratings.follow([postings[0], skipped, postings[2]])
    rest = [postings[0], postings[2]]
    assert await ratings.standings() == standings_after(rest)
    assert await ratings.points() == points_after(rest)


async def test_a_posting_that_cannot_be_read_holds_up_the_later_ones(ratings: Ratings) -> None:
    """Ratings depend on order, so they wait at it, visibly, and go on when it can be read."""
    postings = some_postings(6)[:3]
    messages = [message(posted) for posted in postings]
    spoilt = replace(messages[1], body=b'{"data":{},"posting":2,"type":"HandBurnt"}')
    assert await ratings.replica().take([messages[0], spoilt, messages[2]]) == 1
    (row,) = await ratings.fetch("select number, error from set_aside where settled_as is null")
    assert (row["number"], "HandBurnt" in row["error"]) == (2, True)
    assert await ratings.standings() == standings_after(postings[:1])
    assert await ratings.replica().take(messages) == 3
    assert await ratings.standings() == standings_after(postings)


async def test_each_change_tells_before_and_after(ratings: Ratings) -> None:
    """Changes chain: what a hand left is what the next of the season begins with; totals add up with the fines."""
    postings = some_postings(40)
    await ratings.follow(postings)
    rows = await ratings.fetch("select * from changes order by player, posting")
    last: dict[tuple[str, str], tuple[float, float]] = {}
    total: dict[str, int] = {}
    for row in rows:
        player = row["player"]
        total[player] = total.get(player, 0) + row["points"]
        assert row["total"] == total[player]
        if row["season"]:
            before = (row["mu_before"], row["sigma_before"])
            assert last.get((player, row["season"]), before) == before
            last[player, row["season"]] = (row["mu_after"], row["sigma_after"])
    assert total == points_after(postings)


async def test_changes_are_append_only(ratings: Ratings, own_database_dsn: str) -> None:
    """The service's role has no right to change them, and a trigger refuses it to superusers too."""
    await ratings.follow(some_postings(3))
    admin = await asyncpg.connect(own_database_dsn)
    for change in ("update {} set total = 0", "delete from {}", "truncate {}"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await ratings.pool.execute(change.format("changes"))
        with pytest.raises(asyncpg.IntegrityConstraintViolationError) as refused:
            await admin.execute(change.format("rating.changes"))
        assert refused.value.constraint_name == "changes_are_append_only"
    await admin.close()
