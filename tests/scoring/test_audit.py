import asyncio
import re
from collections.abc import Sequence

import asyncpg
import pytest
from typer.testing import CliRunner, Result

from baohuang.scoring.events import PostingNumber
from command_line.main import app
from rating.following import Ratings
from rating_service.wiring import SUBSCRIPTION, open_ratings
from scoring.following import MANY, Ledger, rated
from scoring.hands import a_hand, fined
from scoring.recording import TABLES, Recorder
from scoring.test_unscorable import wrong
from scoring_service.ledger_source import LedgerSource


async def run(dsn: str, *arguments: str) -> Result:
    """Run the `baohuang` command."""
    return await asyncio.to_thread(CliRunner().invoke, app, [*arguments, "--postgres-dsn", dsn])


async def test_what_agrees_is_said_to(kept: str) -> None:
    """No difference is found by any of the three, each says so, and exits with 0; nothing is left behind."""
    for arguments in (("reconcile",), ("rebuild", "scoring"), ("rebuild", "rating")):
        done = await run(kept, *arguments)
        assert (done.exit_code, "no difference" in done.stdout) == (0, True), done.output
    admin = await asyncpg.connect(kept)
    assert await admin.fetchval("select count(*) from pg_namespace where nspname like '%beside'") == 0
    await admin.close()


async def test_a_ledger_that_is_behind_is_no_difference(kept: str, recorder: Recorder, ledger: Ledger) -> None:
    """What the log has beyond the ledger is still to come, and so are postings that ratings have not got to."""
    await recorder.record_some(3, seed=2)
    assert (await run(kept, "reconcile")).exit_code == 0
    await ledger.follow()
    for arguments in (("reconcile",), ("rebuild", "scoring"), ("rebuild", "rating")):
        assert (await run(kept, *arguments)).exit_code == 0


Forgery = tuple[str, str, str, str]
"""A statement with {n} for a posting's number, what computing anew says of it, the rule that it breaks, the finding."""

LEDGER_FORGERIES: tuple[Forgery, ...] = (
    ("update entries set points = points + 7 where number = {n} and line = 0", "entries {n:010}/00000: {{",
     "The entries of each posting sum to zero", "posting {n}: its entries sum to 7"),
    ("delete from entries where number = {n} and line = 1", "entries {n:010}/00001: missing",
     "As far as ratings have got, each player's entries are what changed his points", "posting {n}, player-"),
    ("update entries set balance = balance + 1 where number = {n} and line = 2", "entries {n:010}/00002: {{",
     "Each entry tells its account's balance after it", "posting {n}, player:"),
    ("delete from postings where number = {n}", "postings {n:010}: missing",
     "is posted or waits, and is the same", "is not in the ledger"),
    ("update postings set hash = repeat('0', 64) where number = {n}", "postings {n:010}: {{",
     "is posted or waits, and is the same", "is another event than the one in the ledger"),
    ("update postings set version = version + 500 where number = {n}", "postings {n:010}: {{",
     "Every posting is of an event of the log", "posting {n}: the log has no such event"),
    ("update accounts set balance = balance + 1 where account = 'house'", "accounts house: {{",
     "All accounts together are zero", "account house: balance"),
)  # fmt: skip
RATING_FORGERIES: tuple[Forgery, ...] = (
    ("update standings set mu = mu + 4e-15", "standings player-",
     "Each standing is what the last hand of its season left", "in 2026Q4: ("),
    ("update changes set sigma_before = 3 where posting = {n}", "changes {n:010}/player-", "", ""),
    ("delete from changes where posting = {n}", "changes {n:010}/player-",
     "each player's entries are what changed his points", "in the ledger, nothing in ratings"),
    ("update players set points = points + 1", "players player-",
     "Each player's points are the sum of what changed them", "points, and what changed them adds up to"),
)  # fmt: skip


async def forge(dsn: str, schema: str, forgeries: Sequence[Forgery]) -> list[Forgery]:
    """Have a superuser change one hand's rows after another's, behind the triggers' back; give what to look for."""
    admin = await asyncpg.connect(dsn)
    await admin.execute(f"set search_path to {schema}")
    hands = await admin.fetch("select number from scoring.entries group by number having count(*) = 5 order by number")
    tables = await admin.fetch("select tablename from pg_tables where schemaname = $1", schema)
    for row in tables:
        await admin.execute(f"alter table {row['tablename']} disable trigger all")
    wanted = []
    for (statement, *told), hand in zip(forgeries, hands, strict=False):
        await admin.execute(statement.format(n=hand["number"]))
        row_told, rule, finding = (text.format(n=hand["number"]) for text in told)
        wanted.append((statement, row_told, rule, finding))
    await admin.close()
    return wanted


@pytest.mark.parametrize(
    ("schema", "forgeries"), [("scoring", LEDGER_FORGERIES), ("rating", RATING_FORGERIES)], ids=["ledger", "ratings"]
)
async def test_what_was_tampered_with_is_named(kept: str, schema: str, forgeries: Sequence[Forgery]) -> None:
    """Computing anew names the row of every forgery; reconciling names each rule that it breaks, and the place."""
    wanted = await forge(kept, schema, forgeries)
    assert len(wanted) == len(forgeries)
    anew, reconciled = await run(kept, "rebuild", schema), await run(kept, "reconcile")
    assert (anew.exit_code, reconciled.exit_code) == (1, 1)
    for statement, row, rule, finding in wanted:
        assert row in anew.stdout, (statement, anew.output)
        assert rule in reconciled.stdout, (statement, reconciled.output)
        assert finding in reconciled.stdout, (statement, reconciled.output)


async def test_what_waits_is_named_until_it_is_skipped(
    recorder: Recorder, ledger: Ledger, own_database_dsn: str
) -> None:
    """An event that cannot be scored is told with its reason; trying again says so; skipped, all agrees."""
    hand = a_hand()
    for event in (hand, wrong(), fined(hand.players[0])):
        await recorder.record(event, TABLES[1])
    await ledger.follow()
    await rated(own_database_dsn, ledger)
    done = await run(own_database_dsn, "reconcile")
    assert (done.exit_code, "posting 2, position 4, waits since" in done.stdout) == (1, True), done.output
    done = await run(own_database_dsn, "redrive")
    assert (done.exit_code, "posting 2, position 4: the points are" in done.stdout) == (1, True), done.output
    assert (await run(own_database_dsn, "skip", "scoring", "1", "--reason", "no")).exit_code == 1
    done = await run(own_database_dsn, "skip", "scoring", "2", "--reason", "a broken table")
    assert done.exit_code == 0, done.output
    await rated(own_database_dsn, ledger)
    for arguments in (("reconcile",), ("rebuild", "scoring"), ("rebuild", "rating"), ("redrive",)):
        done = await run(own_database_dsn, *arguments)
        assert done.exit_code == 0, done.output
    assert "ratings: up to posting 3" in (await run(own_database_dsn, "reconcile")).stdout


async def test_a_posting_that_ratings_wait_at_is_skipped(kept: str, recorder: Recorder, ledger: Ledger) -> None:
    """One that ratings cannot apply is named; skipped, it is gone past, and the postings behind it are applied."""
    reached = len(await ledger.postings())
    for _ in range(2):
        await recorder.record(fined("player-00"))
    await ledger.follow()
    spoilt, *rest = await LedgerSource(ledger.pool).read(PostingNumber(reached), MANY)  # type: ignore[arg-type]
    async with await open_ratings(kept) as pool:
        bad = type(spoilt)(spoilt.number, spoilt.subject, b"{}", spoilt.headers)
        assert await Ratings(pool).replica().take([bad, *rest]) == reached
        assert "is set aside" in (await run(kept, "reconcile")).stdout
        done = await run(kept, "skip", "rating", str(reached + 1), "--reason", "unreadable")
        assert done.exit_code == 0, done.output
        assert await Ratings(pool).replica().take([bad, *rest]) == reached + 2
    for arguments in (("reconcile",), ("rebuild", "rating")):
        done = await run(kept, *arguments)
        assert done.exit_code == 0, done.output
    assert (await run(kept, "skip", "rating", "1", "--reason", "no")).exit_code == 1
    assert SUBSCRIPTION.consumer == "rating"


async def test_what_cannot_be_told_is_no_verdict(own_database_dsn: str) -> None:
    """Without a database, or one without the schemas, the exit code is neither that of agreement nor of difference."""
    for arguments in (
        ("reconcile",), ("rebuild", "scoring"), ("rebuild", "rating"), ("redrive",), ("set-aside",),
        ("clear-alarm", "scoring"), ("clear-alarm", "rating"),
    ):  # fmt: skip
        for dsn in ("postgresql://nobody@127.0.0.1:1/none", re.sub(r"/[^/]*$", "/postgres", own_database_dsn)):
            done = await run(dsn, *arguments)
            assert (done.exit_code, "cannot tell" in done.output) == (2, True), done.output
