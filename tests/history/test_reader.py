"""What the reader finds is what a filter over the whole log finds."""

import asyncio
import re
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import get_args

import asyncpg
import pytest

from baohuang.eventlog.port import NO_POSITION, LogUnavailable, StoredEvent, StreamId, Version
from baohuang.eventlog.postgres import migrations
from baohuang.eventlog.postgres.log import open_log
from baohuang.history.composing import MOVES
from baohuang.history.queries import query
from baohuang.history.reader import HistoryReader, open_history
from baohuang.history.sought import EventsSought, Order
from baohuang.rules.events import EVENT_TYPES, Ruling
from databases import Server
from history.conftest import Played
from history.filtering import events_in, rulings_in
from history.plays import played
from history.questions import Questions

MIGRATION = Path(migrations.__file__).parent / "versions" / "0008_history.sql"


@pytest.mark.parametrize("seed", range(4))
async def test_events_are_those_that_meet_every_filter(played_log: Played, history: HistoryReader, seed: int) -> None:
    """Any filters, in either order, on a page of any size."""
    questions, found = Questions(played_log.events, seed), 0
    for _ in range(150):
        sought, order, limit = questions.events(), questions.order(), questions.limit()
        expected = events_in(played_log.events, sought, order)[:limit]
        assert list(await history.events(sought, order, limit)) == expected, (sought, order, limit)
        found += bool(expected)
    assert found > 20


@pytest.mark.parametrize("seed", range(4))
async def test_rulings_are_those_that_meet_every_filter(played_log: Played, history: HistoryReader, seed: int) -> None:
    """Any filters, on a page of any size; with whom each is about, though only the hand says whose seats it names."""
    questions, found = Questions(played_log.events, seed), 0
    for _ in range(150):
        sought, limit = questions.rulings(), questions.limit()
        expected = rulings_in(played_log.events, sought)[:limit]
        assert list(await history.rulings(sought, limit)) == expected, (sought, limit)
        found += bool(expected)
    assert found > 20


async def test_the_version_at_an_instant(played_log: Played, history: HistoryReader) -> None:
    """The last version recorded then or before, at and beside every moment of a stream; 0 before, and of no stream."""
    stream_id = played_log.events[0].stream_id
    events = [event for event in played_log.events if event.stream_id == stream_id]
    moments = {event.recorded_at for event in events[::5]} | {datetime.fromisoformat("2020-01-01T00:00:00Z")}
    for moment in sorted(moments):
        for instant in (moment - timedelta(microseconds=1), moment, moment + timedelta(microseconds=1)):
            expected = max((event.version for event in events if event.recorded_at <= instant), default=0)
            assert await history.version_at(stream_id, instant) == expected
    assert await history.version_at(StreamId("nowhere"), moments.pop()) == 0


async def test_what_is_open_ends_with_the_last_finished_hand(played_log: Played, history: HistoryReader) -> None:
    """Of many streams at once; 0 where no hand was finished, and of no stream."""
    expected: dict[StreamId, int] = {StreamId("nowhere"): 0}
    for event in played_log.events:
        expected.setdefault(event.stream_id, 0)
        if event.type == "HandFinished":
            expected[event.stream_id] = event.version
    assert await history.closed_until(tuple(expected)) == expected
    assert set(expected.values()) > {0}


async def test_the_hand_until_a_version(played_log: Played, history: HistoryReader) -> None:
    """From the last beginning of a hand up to that version, from the first event before any; of no stream nothing."""
    stream_id = played_log.events[0].stream_id
    events = [event for event in played_log.events if event.stream_id == stream_id]
    begin = 0
    for number, event in enumerate(events):
        begin = number if event.type == "HandStarted" else begin
        if number % 7 == 0 or event.type in ("HandStarted", "HandFinished"):
            assert list(await history.hand_until(stream_id, event.version)) == events[begin : number + 1]
    assert begin > 0
    assert list(await history.hand_until(stream_id, Version(10_000))) == events[begin:]
    assert await history.hand_until(StreamId("nowhere"), Version(1)) == ()


async def test_it_only_reads(played_log: Played, history: HistoryReader) -> None:
    """Its connections change nothing, as those to a replica could not."""
    with pytest.raises(asyncpg.ReadOnlySQLTransactionError):
        await history._pool.execute("update eventlog.counter set last_position = 0")


async def test_a_log_that_does_not_answer_is_unavailable(played_log: Played) -> None:
    """Whatever the failure, it is told as every reader of the log tells it."""
    async with open_history(played_log.dsn, readers=1) as history:
        await history._pool.close()
        with pytest.raises(LogUnavailable):
            await history.events(EventsSought())


@pytest.mark.parametrize("sought", [EventsSought(), EventsSought(rulings=True), EventsSought(types=("PlayerSat",))])
async def test_pages_miss_and_repeat_nothing_while_the_log_grows(
    postgres_server: Server, template_database: str, sought: EventsSought
) -> None:
    """Oldest first and after the last position, page by page beside appends, all comes once and in order."""
    with postgres_server.database(template_database) as name:
        dsn = postgres_server.dsn_of(name)
        async with open_log(dsn, readers=1) as log, open_history(dsn, readers=1) as history:
            playing = asyncio.create_task(played(log, tables=2, hands=1))
            seen: list[StoredEvent] = []
            done = False
            while not done:
                done = playing.done()
                while page := await history.events(
                    replace(sought, after=seen[-1].position if seen else NO_POSITION), limit=3
                ):
                    seen += page
            assert seen == events_in(await playing, sought, Order.OLDEST_FIRST)


def test_names_in_the_queries_are_those_of_the_rules() -> None:
    """The types that indexes and queries hold as rulings are the rulings, and what they hold as moves are moves."""
    texts = [query("rulings"), MIGRATION.read_text(encoding="utf-8")]
    lists = [match for text in texts for match in re.findall(r"in \(\n(.*?)\n\)", text, re.DOTALL)]
    assert len(lists) == 6
    for one in lists:
        assert set(re.findall(r"'(\w+)'", one)) == {cls.__name__ for cls in get_args(Ruling)}
    for piece in ("moves", "others"):
        assert set(re.findall(r"'(\w+)'", query(piece))) == MOVES
    assert set(EVENT_TYPES) > MOVES
