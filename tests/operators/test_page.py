"""The worked queries of docs/operations.md, taken from the page: they give what it says, which is what the log says."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from statistics import mean
from typing import Any, Final

import asyncpg
import pytest

from baohuang.eventlog.port import StoredEvent
from baohuang.rules import events as ev
from operators.page import Query, answered, queries
from operators.test_views import DONE_IN_TURN, Told, told

_WEEK: Final = (datetime(2026, 1, 26, tzinfo=UTC), datetime(2026, 2, 2, tzinfo=UTC))
QUERIES: Final = queries()


def of_the_week(week: Sequence[StoredEvent], *kinds: type) -> Iterator[Told]:
    """Give the events of these kinds that were recorded in that week."""
    for one in told(week):
        if isinstance(one.event, kinds) and _WEEK[0] <= one.stored.recorded_at < _WEEK[1]:
            yield one


def trusteeships(week: Sequence[StoredEvent]) -> Iterator[tuple[Any, ...]]:
    """Give player and number of times."""
    times = Counter(one.event.player for one in of_the_week(week, ev.TrusteeshipEntered))
    yield from sorted(times.items(), key=lambda counted: (-counted[1], counted[0]))


def fines(week: Sequence[StoredEvent]) -> Iterator[tuple[Any, ...]]:
    """Give when, where and who, and each version that it rests on."""
    for one in of_the_week(week, ev.PlayerFined):
        if one.event.points == -40:
            for version in one.event.rests_on:
                yield one.stored.recorded_at, *one.key, one.event.player, version


def own_turns(week: Sequence[StoredEvent]) -> Iterator[tuple[Told, int, int]]:
    """Give each turn that a player took himself, with the milliseconds it took and that were left."""
    at = {(one.stream_id, int(one.version)): one.recorded_at for one in week}
    for one in of_the_week(week, *DONE_IN_TURN):
        if getattr(one.event, "automatic", False) or getattr(one.event, "forced", False):
            continue
        assert one.before is not None
        assert one.before.hand is not None
        hand, now = one.before.hand, one.stored.recorded_at
        opened = at[one.stored.stream_id, hand.turn_version]
        yield one, _ms(now, opened), _ms(datetime.fromisoformat(hand.due_at), now)


def _ms(later: datetime, earlier: datetime) -> int:
    return round((later - earlier).total_seconds() * 1000)


def averages(week: Sequence[StoredEvent]) -> Iterator[tuple[Any, ...]]:
    """Give player, number of turns, average."""
    took = defaultdict[str, list[int]](list)
    for one, milliseconds, _ in own_turns(week):
        took[one.stored.actor].append(milliseconds)
    averaged = [(player, len(all_), round(mean(all_))) for player, all_ in took.items()]
    yield from sorted(averaged, key=lambda row: (-row[2], row[0]))


def voids(week: Sequence[StoredEvent]) -> Iterator[tuple[Any, ...]]:
    """Give table and number of the hand."""
    for one in of_the_week(week, ev.HandFinished):
        if one.event.void:
            yield one.stored.stream_id, one.event.hand


def close_calls(week: Sequence[StoredEvent]) -> Iterator[tuple[Any, ...]]:
    """Give when, where, and by whom."""
    for one, _, left in own_turns(week):
        if isinstance(one.event, ev.CardsPlayed | ev.Passed) and 0 <= left <= 200:
            yield one.stored.recorded_at, *one.key, one.stored.actor


EXPECTED: Final[Mapping[str, tuple[tuple[int, ...], Callable[[Sequence[StoredEvent]], Iterator[tuple[Any, ...]]]]]] = {
    "Who was put in trusteeship most": ((0, 1), trusteeships),
    "All fines of 40 points, with their evidence": ((0, 1, 2, 3, 7), fines),
    "Average turn time by player": ((0, 1, 2), averages),
    "Hands that were voided, by whom and why": ((0, 1), voids),
    "Plays within 200 ms of their deadline": ((0, 1, 2, 3), close_calls),
}
"""Which columns of a query are computed here as well, and how."""


@pytest.mark.parametrize("query", QUERIES, ids=[query.title for query in QUERIES])
async def test_they_give_what_the_page_says(reader: asyncpg.Connection, query: Query) -> None:
    """Asked with an operator's login, of the log that the page was written with; else `python -m operators.page`."""
    assert await answered(reader, query.text) == query.output


@pytest.mark.parametrize("title", EXPECTED)
async def test_and_that_is_so(reader: asyncpg.Connection, week: Sequence[StoredEvent], title: str) -> None:
    """The same from the events one by one, without the views."""
    (query,) = [query for query in QUERIES if query.title == title]
    columns, expected = EXPECTED[title]
    found = [tuple(row[column] for column in columns) for row in await reader.fetch(query.text)]
    assert found == list(expected(week))
    assert found


def test_the_page_has_them_all() -> None:
    """No query of the page was passed over for its form."""
    assert len(QUERIES) == 7
    assert EXPECTED.keys() <= {query.title for query in QUERIES}
