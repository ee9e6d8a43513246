"""Reading the history of a log on PostgreSQL, or on a replica of it."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

import msgspec

from baohuang.audit.judgement import players_of
from baohuang.database.pool import FAILURES, Identity, Limits, Pool, open_pool
from baohuang.eventlog.codec import decode
from baohuang.eventlog.json_codec import CodecError
from baohuang.eventlog.port import NO_POSITION, NO_VERSION, LogUnavailable, Position, StoredEvent, StreamId, Version
from baohuang.eventlog.postgres.schema import HISTORY
from baohuang.history.composing import events_query, rulings_query
from baohuang.history.queries import query
from baohuang.history.sought import EventsSought, Order, RulingsSought, StoredRuling
from baohuang.rules import events as ev
from baohuang.rules.state import PlayerId

Row = Any  # asyncpg.Record, which has no types for its columns

_IDENTITY: Final = Identity(
    "baohuang history",
    HISTORY,
    # Every query walks indexes and looks rows up. Planned once a session, with no regard to what is asked for.
    settings={
        "default_transaction_read_only": "on",
        "plan_cache_mode": "force_generic_plan",
        "enable_seqscan": "off",
        "enable_bitmapscan": "off",
        "enable_hashjoin": "off",
        "enable_mergejoin": "off",
        "random_page_cost": "1",
        "jit": "off",
    },
)
_VERSION_AT: Final = query("version_at")
_CLOSED_UNTIL: Final = query("closed_until")
_HAND_UNTIL: Final = query("hand_until")
_ALWAYS: Final = datetime.min  # noqa: DTZ901 (PostgreSQL's -infinity)
_NEVER: Final = datetime.max  # noqa: DTZ901 (PostgreSQL's infinity)
_END: Final = Position(2**63 - 1)
_names: Final = msgspec.json.Decoder(tuple[PlayerId, ...]).decode


@asynccontextmanager
async def open_history(dsn: str, *, readers: int = 4, limits: Limits | None = None) -> AsyncIterator["HistoryReader"]:
    """Open the history of a migrated database's log over up to so many connections, all of them read only.

    Raises OSError or asyncpg.PostgresError if the database cannot be reached.
    """
    async with await open_pool(dsn, readers, limits or Limits(), _IDENTITY) as pool:
        yield HistoryReader(pool)


class HistoryReader:
    """Reads pages of the log; made by `open_history`. Every method raises LogUnavailable.

    Positions appear in order, so pages oldest first miss nothing that is appended meanwhile.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool: Final = pool

    async def events(
        self, sought: EventsSought, order: Order = Order.OLDEST_FIRST, limit: int = 100
    ) -> Sequence[StoredEvent]:
        """Return the first `limit` of the events sought; fewer only if there are no more.

        Costs about as many rows as are returned where one thing is sought. Where a player's or a table's events are
        sought by something else as well, all of that player's or that table's may have to be looked at.
        """
        if sought.rulings and sought.types:
            sought = replace(sought, types=tuple(type_ for type_ in sought.types if ev.names_ruling(type_)))
            if not sought.types:
                return ()
        rows = await self._fetch(events_query(sought, order), *arguments_of_events(sought, limit))
        return tuple(_event(row) for row in rows)

    async def rulings(self, sought: RulingsSought, limit: int = 50) -> Sequence[StoredRuling]:
        """Return the newest `limit` of the rulings sought, newest first; fewer only if there are no more."""
        rows = await self._fetch(rulings_query(sought), *arguments_of_rulings(sought, limit))
        return tuple(_ruling(row) for row in rows)

    async def version_at(self, stream_id: StreamId, instant: datetime) -> Version:
        """Return the last version of a stream that was recorded at an instant (aware) or before; 0 if there is none."""
        rows = await self._fetch(_VERSION_AT, stream_id, instant)
        return rows[0]["version"] if rows else NO_VERSION

    async def closed_until(self, stream_ids: Sequence[StreamId]) -> Mapping[StreamId, Version]:
        """Return of each stream the version at which its last finished hand ended, 0 if none did.

        Up to there all is open to whoever may see the table; what comes behind is of a hand that goes on.
        """
        rows = await self._fetch(_CLOSED_UNTIL, stream_ids)
        return dict.fromkeys(stream_ids, NO_VERSION) | dict(rows)

    async def hand_until(self, stream_id: StreamId, version: Version) -> Sequence[StoredEvent]:
        """Return a stream's events up to a version, from the `HandStarted` before it; from the first if there is none.

        Folded they give the table as it was at that version, at the cost of one hand. A version past the end is as the
        last one.
        """
        return tuple(_event(row) for row in await self._fetch(_HAND_UNTIL, stream_id, version))

    async def _fetch(self, text: str, *arguments: object) -> Sequence[Row]:
        try:
            return await self._pool.fetch(text, *arguments)
        except FAILURES as error:
            raise LogUnavailable(f"{type(error).__name__}: {error}") from error


def arguments_of_events(sought: EventsSought, limit: int) -> Sequence[object]:
    """Return what `events_query` is asked with."""
    return (
        sought.stream_id, sought.player, sought.types or None, sought.since or _ALWAYS, sought.until or _NEVER,
        sought.after, _or_end(sought.before), limit, None,
    )  # fmt: skip


def arguments_of_rulings(sought: RulingsSought, limit: int) -> Sequence[object]:
    """Return what `rulings_query` is asked with."""
    return (
        sought.stream_id, sought.player, sought.kinds or None, sought.since or _ALWAYS, sought.until or _NEVER,
        NO_POSITION, _or_end(sought.before), limit, sought.clause,
    )  # fmt: skip


def _or_end(before: Position | None) -> Position:
    return _END if before is None else before


def _event(row: Row) -> StoredEvent:
    # The queries name their columns in the order of StoredEvent's fields.
    return StoredEvent(*row)


def _ruling(row: Row) -> StoredRuling:
    *columns, players, reversed_by = row
    event = StoredEvent(*columns)
    return StoredRuling(event, _players(event, _names(players or b"[]")), reversed_by)


def _players(ruling: StoredEvent, of_the_hand: tuple[PlayerId, ...]) -> tuple[PlayerId, ...]:
    try:
        return players_of(decode(ruling.type, ruling.data), of_the_hand)
    except CodecError:
        return ()  # which verification finds, and which is listed all the same
