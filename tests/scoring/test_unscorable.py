from collections.abc import Sequence
from dataclasses import replace

import asyncpg
import pytest

from baohuang.eventlog.port import NewEvent
from baohuang.rules.events import HandFinished
from baohuang.scoring.events import HandScored, PostingNumber, PostingSkipped
from baohuang.stream.port import NO_NUMBER, Message, Number
from scoring.following import MANY, Ledger, balances_of
from scoring.hands import a_hand, some_hands
from scoring.recording import TABLES, Recorder
from scoring_service.entries import entries_of
from scoring_service.ledger_source import LedgerSource
from scoring_service.redriving import NotWaiting, redrive, skip


def wrong() -> HandFinished:
    """Return a hand whose points are not those of its places."""
    return replace(a_hand(), points=tuple(-points for points in a_hand().points))


async def published(ledger: Ledger) -> Sequence[Message]:
    """Return what the relay would publish of the ledger."""
    return await LedgerSource(ledger.pool).read(NO_NUMBER, MANY)


async def waiting(ledger: Ledger) -> list[tuple[int, str]]:
    """Return numbers and reasons of what could not be scored."""
    return [(row["number"], row["error"]) for row in await ledger.fetch("select * from unscored order by number")]


async def a_wrong_hand_among_others(recorder: Recorder, ledger: Ledger) -> None:
    """Have the third of five hands say wrong points."""
    hands = [event for event in some_hands(20) if isinstance(event, HandFinished)][:4]
    for hand in (*hands[:2], wrong(), *hands[2:]):
        await recorder.record(hand)
    await ledger.follow()


async def test_the_others_go_on_and_it_keeps_its_number(recorder: Recorder, ledger: Ledger) -> None:
    """It waits, visibly and with its reason; later hands are in the ledger under the numbers of the log's order."""
    await a_wrong_hand_among_others(recorder, ledger)
    postings = await ledger.postings()
    assert [posting.posting for posting in postings] == [1, 2, 4, 5]
    ((number, error),) = await waiting(ledger)
    assert number == 3
    assert "the points are" in error
    assert await ledger.balances() == balances_of(postings)


async def test_the_ledger_is_published_up_to_it(recorder: Recorder, ledger: Ledger) -> None:
    """Who follows the ledger depends on its order, so what comes after waits too; nothing is delivered twice."""
    await a_wrong_hand_among_others(recorder, ledger)
    assert [message.number for message in await published(ledger)] == [1, 2]
    assert await LedgerSource(ledger.pool).read(Number(3), MANY) != []


async def test_it_is_tried_again_in_vain(recorder: Recorder, ledger: Ledger) -> None:
    """As long as the release does not understand it, a further try changes nothing but the count of tries."""
    await a_wrong_hand_among_others(recorder, ledger)
    before = await ledger.balances()
    async with ledger.pool.acquire() as connection, connection.transaction():
        (tried,) = await redrive(connection)
    assert (tried.number, tried.error is not None) == (3, True)
    assert [row["tries"] for row in await ledger.fetch("select tries from unscored")] == [2]
    assert await ledger.balances() == before


async def test_it_is_scored_after_all(recorder: Recorder, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """A release that did not know the ruleset puts a hand aside; the next one scores it, in its place."""
    with monkeypatch.context() as old_release:
        old_release.setattr("scoring_service.scores.ruleset_named", unknown)
        await recorder.record(a_hand())
        await ledger.follow()
    assert [number for number, _ in await waiting(ledger)] == [1]
    async with ledger.pool.acquire() as connection, connection.transaction():
        (tried,) = await redrive(connection)
    assert (tried.number, tried.error) == (1, None)
    (posting,) = await ledger.postings()
    assert isinstance(posting, HandScored)
    assert await waiting(ledger) == []
    assert await ledger.balances() == balances_of([posting])
    assert [message.number for message in await published(ledger)] == [1]


async def test_a_bug_of_ours_costs_no_number(
    recorder: Recorder, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What fails in a way that nobody thought of waits under its number too, and is scored by a release without it."""
    for error in (TypeError, KeyError, ZeroDivisionError, AttributeError):

        def fails(name: str, error: type[Exception] = error) -> object:
            raise error(name)

        with monkeypatch.context() as buggy:
            buggy.setattr("scoring_service.scores.ruleset_named", fails)
            await recorder.record(a_hand())
            await ledger.follow()
    await recorder.record(a_hand())
    await ledger.follow()
    assert [(number, error.partition(":")[0]) for number, error in await waiting(ledger)] == [
        (1, "TypeError"), (2, "KeyError"), (3, "ZeroDivisionError"), (4, "AttributeError")
    ]  # fmt: skip
    async with ledger.pool.acquire() as connection, connection.transaction():
        assert [tried.error for tried in await redrive(connection)] == [None] * 4
    assert [posting.posting for posting in await ledger.postings()] == [1, 2, 3, 4, 5]
    assert await ledger.fetch("select * from set_aside") == []


def unknown(name: str) -> object:
    """Know no ruleset."""
    raise ValueError(f"{name!r} is not a ruleset of this release")


async def test_an_operator_skips_it(recorder: Recorder, ledger: Ledger) -> None:
    """Its posting stays empty, with his reason; the ledger is published beyond it; skipping it again is refused."""
    await a_wrong_hand_among_others(recorder, ledger)
    async with ledger.pool.acquire() as connection, connection.transaction():
        await skip(connection, PostingNumber(3), "played on a broken table")
    skipped = (await ledger.postings())[2]
    assert isinstance(skipped, PostingSkipped)
    assert (skipped.table_id, skipped.reason, entries_of(skipped)) == (TABLES[0], "played on a broken table", ())
    assert [message.number for message in await published(ledger)] == [1, 2, 3, 4, 5]
    async with ledger.pool.acquire() as connection, connection.transaction():
        with pytest.raises(NotWaiting):
            await skip(connection, PostingNumber(3), "again")


async def test_what_cannot_even_be_read_keeps_its_number(recorder: Recorder, ledger: Ledger) -> None:
    """Data that is no such event, of a newer release perhaps, waits like a wrong one, also among a batch of others."""
    hand = a_hand()
    await recorder.record(hand)
    await recorder.append_raw(TABLES[0], [NewEvent("HandFinished", b'{"points":"many"}')])
    await recorder.record(hand, TABLES[1])
    await ledger.follow()
    assert [posting.posting for posting in await ledger.postings()] == [1, 3]
    ((number, error),) = await waiting(ledger)
    assert number == 2
    assert error.startswith("Unscorable: HandFinished")


async def test_a_hand_number_that_comes_twice_waits(recorder: Recorder, ledger: Ledger) -> None:
    """Two events that both claim to be hand 1 of a table: one is scored, and the unique constraint keeps the other."""
    hand = a_hand()
    for _ in range(2):
        await recorder.append(TABLES[0], [replace(hand, hand=1)])
    await ledger.follow()
    assert [posting.posting for posting in await ledger.postings()] == [1]
    ((number, error),) = await waiting(ledger)
    assert (number, "a_hand_counts_once" in error) == (2, True)


async def test_what_waits_must_be_what_the_log_has(recorder: Recorder, ledger: Ledger, own_database_dsn: str) -> None:
    """An event that was changed in the log since is not scored in place of the one that waits."""
    await a_wrong_hand_among_others(recorder, ledger)
    admin = await asyncpg.connect(own_database_dsn)
    await admin.execute("update scoring.unscored set hash = repeat('0', 64)")
    await admin.close()
    async with ledger.pool.acquire() as connection, connection.transaction():
        (tried,) = await redrive(connection)
    assert "another event" in (tried.error or "")
