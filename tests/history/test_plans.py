"""Every kind of question is answered from an index, whatever the length of the log: the plans, as they are run."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from datetime import MINYEAR, UTC, datetime, timedelta
from typing import Any

import pytest

from baohuang.eventlog.port import Position, StreamId
from baohuang.history.composing import events_query, rulings_query
from baohuang.history.queries import query
from baohuang.history.reader import HistoryReader, arguments_of_events, arguments_of_rulings, open_history
from baohuang.history.sought import EventsSought, Order, RulingsSought
from baohuang.rules.state import PlayerId
from bench.long_log import lengthen
from databases import Server

PAGE = 50
TABLE = StreamId("v1-homy-qingdao-0/2")
PLAYER = PlayerId("bo-1")
NOON = datetime(2026, 1, 1, 2, tzinfo=UTC)
HOUR = timedelta(hours=1)
ROOM = 2 * 60 + 40
"""Events of the log of the test that were recorded within the minute of room, twice a second, and its disorder."""


@pytest.fixture(scope="module")
def long_log(postgres_server: Server, template_database: str) -> Iterator[str]:
    """Give the DSN of a log of more than 50,000 events."""
    with postgres_server.database(template_database) as name:
        dsn = postgres_server.dsn_of(name)
        made = asyncio.run(lengthen(dsn, 50_000))
        assert made.events > 50_000
        yield dsn


@pytest.fixture
async def history(long_log: str) -> AsyncIterator[HistoryReader]:
    """Give its reader, over one connection."""
    async with open_history(long_log, readers=1) as reader:
        yield reader


@dataclass
class Plan:
    """What was done to answer."""

    indexes: set[str] = field(default_factory=set)
    nodes: set[str] = field(default_factory=set)
    touched: float = 0
    """Rows that were read from tables and indexes, those included that a filter then took away."""
    sorted: float = 0
    """The most rows that were sorted at a time."""

    def add(self, node: Any) -> None:
        """Take in a node of the plan and those below it."""
        rows = node["Actual Rows"] + sum(value for key, value in node.items() if key.startswith("Rows Removed by"))
        self.nodes.add(node["Node Type"])
        if "Relation Name" in node or "Index Name" in node:
            self.touched += rows * node["Actual Loops"]
        if "Index Name" in node:
            self.indexes.add(node["Index Name"])
        if "Sort" in node["Node Type"]:
            self.sorted = max(self.sorted, rows)
        for below in node.get("Plans", ()):
            self.add(below)


async def plan_of(history: HistoryReader, text: str, *arguments: object) -> Plan:
    """Return how a query is answered on a connection of the reader, planned as it is there."""
    async with history._pool.acquire() as connection:
        await connection.execute(f"prepare asked as {text}")
        values = ", ".join([await literal(connection, value) for value in arguments])
        told = await connection.fetchval(f"explain (analyze, format json) execute asked({values})")
        await connection.execute("deallocate asked")
    plan = Plan()
    plan.add(json.loads(told)[0]["Plan"])
    return plan


async def literal(connection: Any, value: object) -> str:
    """Write a value as a literal."""
    match value:
        case None | int():
            return "null" if value is None else str(value)
        case tuple():
            return "array[" + ", ".join([await literal(connection, one) for one in value]) + "]"
        case datetime():
            return "'-infinity'" if value.year == MINYEAR else f"'{value.isoformat()}'"
        case _:
            return str(await connection.fetchval("select quote_literal($1::text)", value))


SEEN = {"a_position_holds_one_event"}  # by which the log is walked, and what several ways lead to is looked up
EVENTS = {
    "all": (EventsSought(), set(), 0),
    "position": (EventsSought(after=Position(20_000), before=Position(40_000)), set(), 0),
    "time": (EventsSought(since=NOON, until=NOON + HOUR), set(), ROOM),
    "table": (EventsSought(TABLE), {"a_version_happens_once"}, 0),
    "table, time": (EventsSought(TABLE, since=NOON, until=NOON + HOUR), {"a_version_happens_once"}, ROOM),
    "table, type": (EventsSought(TABLE, types=("ReadinessSet", "PlayerSat")), {"others_of_a_stream"}, PAGE),
    "table, ruling": (EventsSought(TABLE, rulings=True), {"rulings_of_a_stream"}, 0),
    "player": (
        EventsSought(player=PLAYER), {"moves_by_actor", "others_by_actor", "events_by_player"}, 2 * PAGE,
    ),
    "player, time": (
        EventsSought(player=PLAYER, since=NOON), {"moves_by_actor", "others_by_actor", "events_by_player"},
        2 * PAGE + ROOM,
    ),
    "player, ruling": (
        EventsSought(player=PLAYER, rulings=True), {"rulings_by_actor", "rulings_by_player"}, PAGE,
    ),
    "type": (EventsSought(types=("PlayerStood", "HandVoided")), {"others_by_type"}, PAGE),
    "type, time": (EventsSought(types=("HandStarted",), since=NOON), {"others_by_type"}, ROOM),
    "move": (EventsSought(types=("CardsPlayed",), after=Position(20_000)), set(), 5 * PAGE),
    "ruling": (EventsSought(rulings=True), {"rulings_by_position"}, 0),
    "ruling, type": (EventsSought(types=("PlayerFined",), rulings=True), {"others_by_type"}, 0),
}  # fmt: skip
BESIDE = {"others_of_a_stream"}  # by which the hand and the reversal of a ruling are found
RULINGS = {
    "all": (RulingsSought(), {"rulings_by_position"}, 0),
    "table": (RulingsSought(TABLE), {"rulings_of_a_stream"}, 0),
    "player": (RulingsSought(player=PLAYER), {"rulings_by_player", "a_ruling_is_about_a_player_once"}, PAGE),
    "kind": (RulingsSought(kinds=("TableDissolved", "TurnExtended")), {"others_by_type"}, PAGE),
    "clause": (RulingsSought(clause="TRUST-5"), {"rulings_by_clause"}, 0),
    "time": (RulingsSought(since=NOON, until=NOON + HOUR), {"rulings_by_position"}, ROOM),
    "position": (RulingsSought(before=Position(30_000)), {"rulings_by_position"}, 0),
}


@pytest.mark.parametrize("order", Order)
@pytest.mark.parametrize("name", EVENTS)
async def test_events_come_from_an_index(history: HistoryReader, name: str, order: Order) -> None:
    """By each filter: from the index that is for it, without looking at more rows than the page has, but for some."""
    sought, indexes, more = EVENTS[name]
    plan = await plan_of(history, events_query(sought, order), *arguments_of_events(sought, PAGE))
    assert plan.indexes | SEEN == indexes | SEEN
    check(plan, 2 * PAGE + more)


@pytest.mark.parametrize("name", RULINGS)
async def test_rulings_come_from_an_index(history: HistoryReader, name: str) -> None:
    """By each filter, as events do; with two rows more looked up for each."""
    sought, indexes, more = RULINGS[name]
    plan = await plan_of(history, rulings_query(sought), *arguments_of_rulings(sought, PAGE))
    assert plan.indexes | SEEN == indexes | SEEN | BESIDE
    check(plan, 4 * PAGE + more)


def check(plan: Plan, most: int) -> None:
    """Check that a plan reads no table whole, sorts no more than pages, and touches no more than so many rows."""
    assert "Seq Scan" not in plan.nodes
    assert not any("Bitmap" in node for node in plan.nodes)
    assert plan.sorted <= 3 * PAGE
    assert 0 < plan.touched <= most


async def test_a_hand_is_found_without_the_rest_of_the_table(history: HistoryReader) -> None:
    """What a table was at a version costs its hand; where hands ended costs a row each; a moment costs a minute."""
    hand = await history.hand_until(
        TABLE, (await history.events(EventsSought(TABLE), Order.NEWEST_FIRST, 1))[0].version
    )
    plan = await plan_of(history, query("hand_until"), TABLE, hand[-1].version)
    assert plan.indexes == {"a_version_happens_once", "others_of_a_stream"}
    assert plan.touched == len(hand) + 1
    plan = await plan_of(history, query("closed_until"), (TABLE,) * 7)
    assert plan.indexes == {"others_of_a_stream"}
    assert plan.touched <= 7
    plan = await plan_of(history, query("version_at"), TABLE, NOON)
    assert plan.indexes == {"a_version_happens_once"}
    assert plan.touched <= ROOM
