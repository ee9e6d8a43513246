"""What is taken back, in the ledger and in ratings: both postings stand, and the later one counts (RULE-1)."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import asyncpg
import pytest
from typer.testing import CliRunner

from baohuang.rpc.reading import Reader
from baohuang.rules.events import HandFinished
from baohuang.rules.state import PlayerId
from baohuang.scoring.events import FinePosted, FineReturned, HandScored
from command_line.main import app
from rating.following import Ratings, points_after, standings_after
from rating_service.wiring import open_ratings
from scoring.following import Ledger, balances_of, rated
from scoring.hands import a_hand, fine_reversed, fined, void, void_reversed
from scoring.recording import TABLES, Recorder
from scoring_service.migrations import migrate
from scoring_service.statements import Statements

OTHERS = tuple(PlayerId(name) for name in ("an", "bo", "cai", "du", "en"))


def other_hand() -> HandFinished:
    """Return a hand of other players than those of `a_hand`, two of whom were."""
    return replace(a_hand(), players=(*OTHERS[:3], *a_hand().players[3:]))


async def record_reversals(recorder: Recorder) -> None:
    """Record a void hand and a fine at one table, a hand at another between, and both taken back."""
    table, hand = TABLES[0], a_hand()
    fine_version = (await recorder.record(fined(hand.players[1]), table)).version
    finished = await recorder.record(void(hand), table)
    await recorder.record(other_hand(), TABLES[1])
    await recorder.record(void_reversed(replace(hand, hand=1), finished.version), table)
    await recorder.record(other_hand(), TABLES[1])
    await recorder.record(fine_reversed(fined(hand.players[1]), fine_version), table)


async def test_both_postings_stand_and_the_later_counts(recorder: Recorder, ledger: Ledger) -> None:
    """The void score stays as it was; GetHandScore gives the one that counts; the accounts are as if never void."""
    await record_reversals(recorder)
    statements = Statements(Reader(ledger.pool))
    await ledger.follow()
    postings = await ledger.postings()
    assert [type(one) for one in postings] == [
        FinePosted, HandScored, HandScored, HandScored, HandScored, FineReturned,
    ]  # fmt: skip
    void_score, taken_back = postings[1], postings[3]
    assert isinstance(void_score, HandScored)
    assert isinstance(taken_back, HandScored)
    assert (void_score.void, taken_back.void, taken_back.hand) == (True, False, void_score.hand)
    assert tuple(seat.points for seat in taken_back.seats) == a_hand().points
    found = await statements.hand_score(TABLES[0], 1)
    assert found is not None
    assert found.score == taken_back
    balances = await ledger.balances()
    assert balances == balances_of(postings)
    assert (balances["house"], sum(balances.values())) == (0, 0)


@pytest.mark.parametrize(
    ("step", "seasons"), [(timedelta(hours=1), {"2026Q4"}), (timedelta(days=60), {"2027Q2", "2027Q3"})]
)
async def test_ratings_follow_in_the_postings_order(
    recorder: Recorder, ledger: Ledger, own_database_dsn: str, step: timedelta, seasons: set[str]
) -> None:
    """The void rates nobody; its reversal rates where it stands, in the season in which it was taken back.

    What returns of a fine is points and no rating.
    """
    recorder.step = step
    await record_reversals(recorder)
    await ledger.follow()
    await rated(own_database_dsn, ledger)
    postings = await ledger.postings()
    async with await open_ratings(own_database_dsn) as pool:
        ratings = Ratings(pool)
        standings = await ratings.standings()
        assert standings == standings_after(postings)
        assert {season for _, season in standings} == seasons
        assert await ratings.points() == points_after(postings)
        rows = await ratings.fetch(
            "select posting, season from changes where player = $1 order by 1", a_hand().players[1]
        )
        assert [(row["posting"], row["season"] is None) for row in rows] == [(1, True), (4, False), (6, True)]


async def test_all_of_it_can_be_computed_anew(recorder: Recorder, ledger: Ledger, own_database_dsn: str) -> None:
    """`reconcile` and both rebuilds find nothing; delivered again, nothing is booked twice."""
    await record_reversals(recorder)
    await ledger.follow()
    await ledger.replica().take(await ledger.messages())
    await rated(own_database_dsn, ledger)
    assert len(await ledger.postings()) == 6
    for arguments in (("reconcile",), ("rebuild", "scoring"), ("rebuild", "rating")):
        done = await asyncio.to_thread(CliRunner().invoke, app, [*arguments, "--postgres-dsn", own_database_dsn])
        assert (done.exit_code, "no difference" in done.stdout) == (0, True), done.output


async def test_a_reversal_of_nothing_is_found(recorder: Recorder, ledger: Ledger, own_database_dsn: str) -> None:
    """Points that return without having been taken, twice, or of another player, are breaches that reconcile names."""
    fine = await recorder.record(fined("bo"))
    for player, version in (("bo", fine.version), ("bo", fine.version), ("cai", fine.version), ("bo", 1)):
        await recorder.record(fine_reversed(fined(player), version))
    await ledger.follow()
    await rated(own_database_dsn, ledger)
    done = await asyncio.to_thread(CliRunner().invoke, app, ["reconcile", "--postgres-dsn", own_database_dsn])
    assert done.exit_code == 1
    told = [line for line in done.output.splitlines() if "takes version" in line]
    assert len(told) == 3
    assert ["another does so, too" in line for line in told] == [True, False, False]


@pytest.mark.parametrize("index", ["a_hand_counts_once", "a_hand_is_void_once"])
async def test_a_hand_is_void_once_and_counts_once(recorder: Recorder, ledger: Ledger, index: str) -> None:
    """A second void, or a second score that counts, of one hand is not booked, and waits."""
    hand = a_hand()
    finished = await recorder.record(void(hand))
    if index == "a_hand_is_void_once":
        await recorder.append(TABLES[0], [void(replace(hand, hand=1))])
    else:
        for _ in range(2):
            await recorder.record(void_reversed(replace(hand, hand=1), finished.version))
    await ledger.follow()
    ((error,),) = await ledger.fetch("select error from unscored")
    assert index in error


AS_BEFORE = """
    set search_path to scoring;
    drop index a_hand_counts_once;
    drop index a_hand_is_void_once;
    alter table postings
        drop constraint postings_are_hands_or_fines,
        add constraint postings_are_hands_or_fines check (type in ('HandScored', 'FinePosted', 'PostingSkipped')),
        add constraint a_hand_is_scored_once unique (table_id, hand);
    update alembic_version set version_num = '0001';
"""
"""Takes a ledger back to the schema of the release before."""


async def test_a_ledger_of_before_takes_reversals(recorder: Recorder, ledger: Ledger, own_database_dsn: str) -> None:
    """Migrated with a void hand and a fine in it, it books what takes them back; what was there stays as it was."""
    admin = await asyncpg.connect(own_database_dsn)
    await admin.execute(AS_BEFORE)
    hand = a_hand()
    fine_version = (await recorder.record(fined("bo"))).version
    finished = await recorder.record(void(hand))
    await ledger.follow()
    before = await ledger.postings()
    await asyncio.to_thread(migrate, own_database_dsn)
    assert await admin.fetchval("select version_num from scoring.alembic_version") == "0002"
    await admin.close()
    await recorder.record(void_reversed(replace(hand, hand=1), finished.version))
    await recorder.record(fine_reversed(fined("bo"), fine_version))
    await ledger.follow()
    postings = await ledger.postings()
    assert postings[:2] == before
    assert [type(one) for one in postings[2:]] == [HandScored, FineReturned]
