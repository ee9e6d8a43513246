"""Logs of any length, made of the golden histories: listings read them, no chain of theirs holds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import asyncpg

from baohuang.eventlog.port import StreamId, Version

from .golden_tables import PLAYER, Row, read_tables

_COPY: Final = Path(__file__).with_name("long_log.sql").read_text(encoding="utf-8")
_REPEAT: Final = Path(__file__).with_name("repeated_hand.sql").read_text(encoding="utf-8")
_CREATE_RECORDED: Final = """
create temporary table recorded (
    place integer, stream_id text, version integer, type text, actor text, request_id text, data jsonb, salt bytea,
    hash bytea, names_players boolean
)
"""
_INDEXES: Final = """
select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition
from pg_index as i
where i.indrelid = 'eventlog.events'::regclass
    and not exists (select from pg_constraint as c where c.conindid = i.indexrelid)
"""
_ABOUT: Final = """
insert into eventlog.rulings_about (player, position)
select about.player, e.position
from eventlog.events as e cross join eventlog.players_of(e) as about (player)
where e.type in ('HandVoided', 'TableDissolved', 'TurnExtended', 'VoidReversed')
    and e.type not in ('CardsPlayed', 'Passed')
"""


@dataclass(frozen=True, slots=True)
class LongLog:
    """What was made: the streams are named after the tables they are copies of."""

    events: int
    tables: int
    companies: int
    """Groups of five players: an-N, bo-N, cai-N, du-N, en-N for N from 0."""


def table_named(name: str, copy: int) -> StreamId:
    """Return the stream of a copy, from 0, of a golden table."""
    return StreamId(f"{name}/{copy}")


async def lengthen(dsn: str, events: int, tables_a_player: int = 60) -> LongLog:
    """Fill the empty log of a migrated database with at least so many events. Needs a superuser's DSN.

    Indexes are made when all is there, and the trigger that notes whom a ruling is about is stood in for.
    """
    tables = read_tables()
    rows = _recorded(tables)
    copies = -(-events // len(rows))
    companies = max(1, copies * len(tables) // tables_a_player)
    connection = await asyncpg.connect(dsn)
    async with connection.transaction():
        await connection.execute("set local session_replication_role = replica")
        await connection.execute("set local maintenance_work_mem = '128MB'")
        await connection.execute(_CREATE_RECORDED)
        await connection.executemany("insert into recorded values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)", rows)
        await _fill(connection, copies, companies, len(rows))
    await connection.execute("vacuum analyze eventlog.events, eventlog.rulings_about")
    await connection.close()
    return LongLog(copies * len(rows), copies * len(tables), companies)


async def _fill(connection: Any, copies: int, companies: int, rows: int) -> None:
    indexes = await connection.fetch(_INDEXES)
    for index in indexes:
        await connection.execute(f"drop index {index['name']}")
    for copy in range(copies):
        await connection.execute(_COPY, str(copy), str(copy % companies), copy * rows)
    for index in indexes:
        await connection.execute(index["definition"])
    await connection.execute(_ABOUT)


def _recorded(tables: dict[str, Sequence[Row]]) -> list[tuple[object, ...]]:
    """Return the rows of all tables by turns, with their places from 1."""
    turns = sorted((row.version, name, row) for name, rows in tables.items() for row in rows)
    return [
        (place, name, row.version, row.type, row.actor, row.request_id, bytes(row.data).decode(),
         bytes.fromhex(row.salt), bytes.fromhex(row.hash), bool(PLAYER.search(row.data)))
        for place, (_, name, row) in enumerate(turns, 1)
    ]  # fmt: skip


async def repeat_hand(dsn: str, name: str, times: Sequence[int]) -> Sequence[tuple[StreamId, Version]]:
    """Append streams in which one hand of a golden table is played so many times; return each with its last version."""
    hand = list(_first_hand(read_tables()[name]))
    made = []
    connection = await asyncpg.connect(dsn)
    await connection.execute("set session_replication_role = replica")
    for count in times:
        stream_id = StreamId(f"repeated/{count}")
        data = [bytes(row.data).decode() for row in hand]
        await connection.execute(_REPEAT, stream_id, [row.type for row in hand], data, count)
        made.append((stream_id, Version(count * len(hand))))
    await connection.execute("vacuum analyze eventlog.events")
    await connection.close()
    return made


def _first_hand(rows: Sequence[Row]) -> Iterator[Row]:
    """Give the events of a table from the beginning of its first hand to the end of it."""
    begun = False
    for row in rows:
        begun = begun or row.type == "HandStarted"
        if begun:
            yield row
        if row.type == "HandFinished":
            return
