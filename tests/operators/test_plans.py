"""Filters by table, player and time reach an index, for an operator's session on a log of 40,000 events."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, Final

import asyncpg
import msgspec
import psycopg
import pytest

from databases import Server
from operators.conftest import Login
from operators.page import Query, queries

_WEEKS: Final = 12
_MANY_WEEKS: Final = Path(__file__).with_name("many_weeks.sql").read_text(encoding="utf-8")
_DAY: Final = "{} >= '2026-03-02' and {} < '2026-03-03'"
_TABLE: Final = "stream_id = 'table-3-5'"
_BY_TIME: Final = "hands_and_rulings_by_time"
QUESTIONS: Final = [
    ("events", _TABLE, "a_version_happens_once"),
    ("events", f"{_TABLE} and version = 100", "a_version_happens_once"),
    ("events", "position > 1000 and position <= 1100", "a_position_holds_one_event"),
    ("events", "actor = 'an-5'", "moves_by_actor"),
    ("events", "actor = 'an-5'", "others_by_actor"),
    ("events", _DAY.format("recorded_at", "recorded_at"), "events_by_time"),
    ("events", f"type = 'PlayerFined' and {_DAY.format('recorded_at', 'recorded_at')}", _BY_TIME),
    ("plays", _TABLE, "a_version_happens_once"),
    ("plays", "player = 'an-5'", "moves_by_actor"),
    ("plays", _DAY.format("recorded_at", "recorded_at"), "events_by_time"),
    ("turns", _TABLE, "a_version_happens_once"),
    ("turns", "player = 'an-5'", "moves_by_actor"),
    ("turns", "player = 'an-5'", "others_by_actor"),
    ("turns", _DAY.format("recorded_at", "recorded_at"), "events_by_time"),
    ("hands", _TABLE, "others_of_a_stream"),
    ("hands", "players ? 'an-5'", "hands_by_player"),
    ("hands", _DAY.format("started_at", "started_at"), _BY_TIME),
    ("rulings", _TABLE, "rulings_of_a_stream"),
    ("rulings", "player = 'an-5'", "rulings_by_player"),
    ("rulings", _DAY.format("recorded_at", "recorded_at"), _BY_TIME),
    ("fines", _TABLE, "others_of_a_stream"),
    ("fines", "player = 'an-5'", "rulings_by_player"),
    ("fines", _DAY.format("recorded_at", "recorded_at"), _BY_TIME),
    ("trusteeships", _TABLE, "others_of_a_stream"),
    ("trusteeships", "player = 'an-5'", "rulings_by_player"),
    ("trusteeships", _DAY.format("entered_at", "entered_at"), _BY_TIME),
    ("evidence", _TABLE, "rulings_of_a_stream"),
    ("connections", _TABLE, "others_of_a_stream"),
    ("connections", "player = 'an-5'", "events_by_player"),
    ("connections", _DAY.format("recorded_at", "recorded_at"), _BY_TIME),
]
_INSTEAD: Final = {"rulings": "rulings_by_position"}
"""What a view may be read by as well: a log this small has so few rulings that all of them are as quick as a day's."""
_ROWS: Final = 4_000
"""More rows of the log than any of these questions has reason to look at: a tenth of it."""


@pytest.fixture(scope="module")
def many_weeks(postgres_server: Server, week_database: str) -> Iterator[str]:
    """Give the DSN of a database with that week thirteen times, tables and players of its own each time."""
    with postgres_server.database(week_database) as name:
        dsn = postgres_server.dsn_of(name)
        asyncio.run(_fill(dsn))
        with psycopg.connect(dsn, autocommit=True) as connection:
            # Rows are some hundred pages off their order by time: nothing in a log of years, much in one this small.
            connection.execute("cluster eventlog.events using a_position_holds_one_event")
            connection.execute("vacuum analyze eventlog.events")
        yield dsn


async def _fill(dsn: str) -> None:
    connection = await asyncpg.connect(dsn)
    await connection.execute(_MANY_WEEKS, _WEEKS)
    await connection.close()


@pytest.fixture
async def asking(many_weeks: str, login: Login) -> AsyncIterator[asyncpg.Connection]:
    """Give an operator's session of it."""
    connection = await login.session(many_weeks)
    yield connection
    await connection.close()


@pytest.mark.parametrize(("view", "where", "index"), QUESTIONS)
async def test_filters_reach_an_index(asking: asyncpg.Connection, view: str, where: str, index: str) -> None:
    """The plan uses this index, reads no table whole, and looks at few rows."""
    text = f"explain (analyze, timing off, format json) select * from history.{view} where {where}"  # noqa: S608
    (plan,) = msgspec.json.decode(await asking.fetchval(text))
    nodes = list(_nodes(plan["Plan"]))
    used = {name for node in nodes if (name := node.get("Index Name"))}
    assert used & {index, _INSTEAD.get(view)}, used
    assert [node["Node Type"] for node in nodes if node["Node Type"] == "Seq Scan"] == []
    assert plan["Plan"]["Actual Rows"] > 0
    # What is looked up for each row that was found is left out.
    scans = [node for node in nodes if node.get("Relation Name") == "events" and node["Actual Loops"] == 1]
    assert sum(map(_looked_at, scans)) < _ROWS


@pytest.mark.parametrize("query", queries(), ids=lambda query: query.title)
async def test_queries_of_the_page_read_no_table_whole(asking: asyncpg.Connection, query: Query) -> None:
    """What operators are shown to ask, they can ask of a long log."""
    (plan,) = msgspec.json.decode(await asking.fetchval(f"explain (format json) {query.text}"))
    assert [node for node in _nodes(plan["Plan"]) if node["Node Type"] == "Seq Scan"] == []


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for below in node.get("Plans", ()):
        yield from _nodes(below)


def _looked_at(node: dict[str, Any]) -> float:
    """Return how many rows of the log a scan gave and left out."""
    left_out = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
    return float(node["Actual Rows"] + left_out)
