"""Reading history: first pages of a log of two million events, verification beside a bare SELECT, play beside both.

Pages are compared with a look-up by primary key on the same server, which reads one row in one round trip; medians of
many. Verification reads an honest log, a smaller one; the log for listings has no chain that holds.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import asyncpg

from baohuang.audit.log import LogAudit
from baohuang.audit.stream import Depth
from baohuang.audit.survey import open_survey
from baohuang.embedded.postgres import EmbeddedPostgres
from baohuang.eventlog.port import StreamId
from baohuang.eventlog.postgres.log import open_log
from baohuang.eventlog.postgres.migrations import migrate
from baohuang.history.reader import HistoryReader, open_history
from baohuang.history.sought import EventsSought, Order, RulingsSought
from baohuang.rules.state import PlayerId

from .golden_tables import play_again
from .long_log import LongLog, lengthen, repeat_hand, table_named
from .row import Bench, Row

_EVENTS: Final = 2_000_000
_HONEST_COPIES: Final = 3
_HANDS: Final = 200
_TABLE: Final = "v1-homy-qingdao-0"
_PAGES: Final = 200
_ROUNDS: Final = 5
_LOOK_UP: Final = "select position, stream_id, version, type, data, hash from eventlog.events where position = $1"
_SELECT: Final = """
select position, stream_id, version, type, data, actor, request_id, recorded_at, salt, hash
from eventlog.events order by position
"""

Ask = Callable[[int], Awaitable[object]]
"""Ask for something, another thing for another number."""


async def run(wanted: Sequence[str]) -> Sequence[Row]:
    """Measure the wanted rows, each log being made if it is needed."""
    rows: list[Row] = []
    if any(name.startswith("history.") for name in wanted):
        async with _migrated() as dsn:
            rows += await _pages(dsn)
    if any(name.startswith("verify.") for name in wanted):
        async with _migrated() as dsn:
            rows += await _verifications(dsn)
    return [row for row in rows if row.name in wanted]


@asynccontextmanager
async def _migrated() -> AsyncIterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        server = EmbeddedPostgres(Path(folder))
        dsn = await server.start()
        try:
            await asyncio.to_thread(migrate, dsn)
            yield dsn
        finally:
            await server.destroy()


async def _pages(dsn: str) -> Sequence[Row]:
    start = time.perf_counter()
    made = await lengthen(dsn, _EVENTS)
    print(f"made {made} in {time.perf_counter() - start:.0f} s")
    bare = await asyncpg.connect(dsn)
    async with open_history(dsn, readers=1) as history:

        async def look_up(number: int) -> object:
            return await bare.fetchrow(_LOOK_UP, _spread(number, made.events))

        first, last = await _clock_of(bare, made)
        asked = _asked(history, made, lambda number: first + (last - first) * _spread(number, 1000) / 1000)
        rows = [await _row(name, ask, look_up, "a look-up by primary key") for name, ask in asked.items()]
        rows.append(await _table_at(dsn, history))
    await bare.close()
    return rows


def _asked(history: HistoryReader, made: LongLog, instant: Callable[[int], Any]) -> dict[str, Ask]:
    def table(number: int) -> StreamId:
        return table_named(_TABLE, _spread(number, made.companies))

    def player(number: int) -> PlayerId:
        return PlayerId(f"bo-{_spread(number, made.companies)}")

    day = timedelta(days=1)
    return {
        "history.events.table": lambda number: history.events(EventsSought(table(number))),
        "history.events.player": lambda number: history.events(
            EventsSought(player=player(number)), tuple(Order)[number % 2]
        ),
        "history.events.time": lambda number: history.events(
            EventsSought(since=instant(number), until=instant(number) + day)
        ),
        "history.rulings.table": lambda number: history.rulings(RulingsSought(table(number))),
        "history.rulings.player": lambda number: history.rulings(RulingsSought(player=player(number))),
        "history.rulings.time": lambda number: history.rulings(
            RulingsSought(since=instant(number), until=instant(number) + day)
        ),
    }


def _spread(number: int, among: int) -> int:
    """Give numbers from 1 to below `among`, far from one another."""
    return 1 + number * 7919 % (among - 1)


async def _clock_of(bare: Any, made: LongLog) -> tuple[Any, Any]:
    text = "select recorded_at from eventlog.events where position = $1"
    return await bare.fetchval(text, 1), await bare.fetchval(text, made.events)


async def _row(name: str, ask: Ask, baseline: Ask, against: str) -> Row:
    """Compare the median times of asking both by turns, the first ones left out: plans are made then."""
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(_PAGES):
        for asked, took in zip((ask, baseline), times, strict=True):
            start = time.perf_counter()
            await asked(number)
            took.append(1000 * (time.perf_counter() - start))
    value, compared = (statistics.median(took[_PAGES // 10 :]) for took in times)
    return Row(name, value, "ms", compared, against)


async def _table_at(dsn: str, history: HistoryReader) -> Row:
    """Compare a table of many hands with one of a single hand, both at the end of the same hand."""
    short, long = await repeat_hand(dsn, _TABLE, (1, _HANDS))

    def at_end_of(table: tuple[StreamId, Any]) -> Ask:
        return lambda _number: history.hand_until(*table)

    against = f"a table of 1 hand, this one has {_HANDS}"
    return await _row("history.table_at", at_end_of(long), at_end_of(short), against)


async def _verifications(dsn: str) -> Sequence[Row]:
    rates: dict[str, list[float]] = {"select": [], "verify.chain": [], "verify.decide": []}
    async with open_log(dsn, readers=1) as log, open_survey(dsn) as survey:
        await play_again(log, _HONEST_COPIES)

        async def verified(depth: Depth) -> int:
            audit = LogAudit(log, depth)
            if found := [finding async for finding in audit.whole(survey)]:
                raise ValueError(f"an honest log: {found[0]}")
            return audit.tally.events

        for _ in range(_ROUNDS):
            rates["select"].append(await _rate(lambda: _selected(dsn)))
            rates["verify.chain"].append(await _rate(lambda: verified(Depth.CHAIN)))
            rates["verify.decide"].append(await _rate(lambda: verified(Depth.DECISIONS)))
    baseline = statistics.median(rates.pop("select"))
    return [Row(name, statistics.median(found), "events/s", baseline, "bare SELECT") for name, found in rates.items()]


async def _rate(read: Callable[[], Awaitable[int]]) -> float:
    start = time.perf_counter()
    return await read() / (time.perf_counter() - start)


async def _selected(dsn: str) -> int:
    connection = await asyncpg.connect(dsn)
    rows = len(await connection.fetch(_SELECT))
    await connection.close()
    return rows


_PAGE_ROWS: Final = tuple(
    f"history.{what}.{by}" for what in ("events", "rulings") for by in ("table", "player", "time")
)
BENCH: Final = Bench((*_PAGE_ROWS, "history.table_at", "verify.chain", "verify.decide"), run)
