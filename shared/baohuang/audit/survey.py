"""The log as a whole, as verification reads it: which streams there are, and whether positions have holes."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, Final

from baohuang.audit.checkpoints import Checkpoint, Statement, StreamEnd
from baohuang.audit.queries import query
from baohuang.database.pool import Identity, Limits, Pool, open_pool
from baohuang.eventlog.port import NO_HASH, NO_POSITION, Position, StreamId, Version
from baohuang.eventlog.postgres.schema import HISTORY, SCHEMA
from baohuang.rules.state import PlayerId

_READING: Final = Identity("baohuang verify", HISTORY)
_SIGNING: Final = Identity("baohuang checkpoint", SCHEMA.role)
_STREAMS: Final = 1000
_LAST: Final = query("last_position")
_RULINGS_NOT_LISTED: Final = query("rulings_not_listed")
_LISTED_RULINGS: Final = query("listed_rulings")
_MISPLACED: Final = query("misplaced_events")
_COUNT: Final = query("count_positions")
_MISSING: Final = query("missing_positions")
_HOMELESS: Final = query("homeless_streams")
_RECORDED_FROM: Final = query("recorded_from")
_STREAMS_SINCE: Final = query("streams_since")
_HEADS_AT: Final = query("heads_at")
_HASHES_OF: Final = query("hashes_of")
_CHECKPOINTS_AFTER: Final = query("checkpoints_after")
_LAST_CHECKPOINT: Final = query("last_checkpoint")
_PUT_CHECKPOINT: Final = query("put_checkpoint")
_CLOCK: Final = "select clock_timestamp() as now"
_LONG_AGO: Final = datetime.min  # noqa: DTZ901 (PostgreSQL's -infinity)


@asynccontextmanager
async def open_survey(dsn: str) -> AsyncIterator["Survey"]:
    """Open a survey of a migrated database's log, only to be read. Raises OSError, asyncpg.PostgresError."""
    async with await open_pool(dsn, 1, Limits(), _READING) as pool:
        yield Survey(pool)


@asynccontextmanager
async def open_signing(dsn: str) -> AsyncIterator["Survey"]:
    """Open a survey that may also store checkpoints. Raises OSError, asyncpg.PostgresError."""
    async with await open_pool(dsn, 1, Limits(), _SIGNING) as pool:
        yield Survey(pool)


class Survey:
    """Reads pages; raises asyncpg.PostgresError, OSError."""

    def __init__(self, pool: Pool) -> None:
        self._pool: Final = pool

    async def streams(self, since: datetime | None = None) -> AsyncIterator[StreamId]:
        """Give the ids of all streams that have a head, ascending; with `since` only those with an event from then on.

        A stream whose last event is missing is given whatever the moment.
        """
        after = ""
        while rows := await self._fetch(_STREAMS_SINCE, after, since or _LONG_AGO, _STREAMS):
            for row in rows:
                if row["moved"]:
                    yield row["stream_id"]
            after = rows[-1]["stream_id"]

    async def last_position(self) -> tuple[Position | None, Position]:
        """Return the last position by the counter, None if that was removed, and by the events."""
        (row,) = await self._fetch(_LAST)
        return row["counted"], row["stored"] or NO_POSITION

    async def misplaced(self, limit: int) -> Sequence[tuple[StreamId, Version, Position]]:
        """Return of up to `limit` streams the first event before the first position or behind the counter's."""
        return [tuple(row) for row in await self._fetch(_MISPLACED, limit)]

    async def count(self, after: Position, to: Position) -> tuple[int, int]:
        """Return how many events there are after a position up to another, and how many in streams without a head."""
        (row,) = await self._fetch(_COUNT, after, to)
        return row["events"], row["homeless"]

    async def missing(self, after: Position, to: Position, limit: int) -> Sequence[Position]:
        """Return up to `limit` positions of a range that hold no event."""
        return [row["position"] for row in await self._fetch(_MISSING, after, to, limit)]

    async def homeless(self, after: Position, to: Position) -> Sequence[StreamId]:
        """Return the streams without a head that have events in a range."""
        return [row["stream_id"] for row in await self._fetch(_HOMELESS, after, to)]

    async def rulings_not_listed(
        self, after: Position, to: Position, limit: int
    ) -> Sequence[tuple[StreamId, Version, PlayerId]]:
        """Return up to `limit` rulings of a range, each with somebody it is about and is not listed for."""
        return [tuple(row) for row in await self._fetch(_RULINGS_NOT_LISTED, after, to, limit)]

    async def wrongly_listed(self) -> AsyncIterator[tuple[PlayerId, Position, tuple[StreamId, Version] | None]]:
        """Give the lines of the list of rulings that are of none about that player, and which event stands there."""
        after: tuple[str, int] = "", -(2**63)
        while rows := await self._fetch(_LISTED_RULINGS, *after, _STREAMS):
            for row in rows:
                if not row["follows"]:
                    place = (row["stream_id"], row["version"]) if row["stream_id"] else None
                    yield row["player"], row["position"], place
            after = rows[-1]["player"], rows[-1]["position"]

    async def position_at(self, moment: datetime) -> Position:
        """Return a position before the events that were recorded from a moment on, found by halving.

        Commands are appended in nearly the order of their readings of the clock; who asks leaves some room.
        """
        low, (counted, stored) = NO_POSITION, await self.last_position()
        high = stored if counted is None else counted
        while low < high:
            middle = Position((low + high) // 2)
            rows = await self._fetch(_RECORDED_FROM, middle + 1, moment)
            if rows and rows[0]["earlier"]:
                low = Position(middle + 1)
            else:
                high = middle
        return low

    async def ends_at(self, position: Position) -> AsyncIterator[StreamEnd]:
        """Give where each stream ended at a position, ascending by id; those that did not exist then are left out."""
        after = ""
        while rows := await self._fetch(_HEADS_AT, after, position, _STREAMS):
            for row in rows:
                if row["version"] is not None:
                    yield StreamEnd(row["stream_id"], row["version"], row["hash"])
            after = rows[-1]["stream_id"]

    async def hashes_of(self, ends: Sequence[StreamEnd]) -> Mapping[tuple[StreamId, Version], tuple[bytes, int | None]]:
        """Return for streams and versions the hash there, `NO_HASH` if there is none, and the stream's last version."""
        rows = await self._fetch(_HASHES_OF, [end.stream_id for end in ends], [end.version for end in ends])
        return {(row["stream_id"], row["version"]): (row["hash"] or NO_HASH, row["ends_at"]) for row in rows}

    async def checkpoints(self) -> AsyncIterator[Checkpoint]:
        """Give all checkpoints in order."""
        after = -1
        while rows := await self._fetch(_CHECKPOINTS_AFTER, after, _STREAMS):
            for row in rows:
                yield _checkpoint(row)
            after = rows[-1]["position"]

    async def checkpoint_at(self, position: Position) -> Checkpoint | None:
        """Return the checkpoint at a position, None if there is none."""
        rows = await self._fetch(_CHECKPOINTS_AFTER, position - 1, 1)
        return _checkpoint(rows[0]) if rows and rows[0]["position"] == position else None

    async def last_checkpoint(self) -> Checkpoint | None:
        """Return the newest checkpoint, None if there is none."""
        rows = await self._fetch(_LAST_CHECKPOINT)
        return _checkpoint(rows[0]) if rows else None

    async def put_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Store a checkpoint. Raises asyncpg.UniqueViolationError if another follows the same."""
        said = checkpoint.statement
        values = (said.position, said.made_at, said.streams, said.root, said.previous, said.key_id)
        await self._fetch(_PUT_CHECKPOINT, *values, checkpoint.signature)

    async def clock(self) -> datetime:
        """Return the database's clock, UTC."""
        (row,) = await self._fetch(_CLOCK)
        now: datetime = row["now"]
        return now

    async def _fetch(self, text: str, *arguments: object) -> Sequence[Any]:
        rows: Sequence[Any] = await self._pool.fetch(text, *arguments)
        return rows


def _checkpoint(row: Any) -> Checkpoint:
    said = Statement(row["position"], row["made_at"], row["streams"], row["root"], row["previous"], row["key_id"])
    return Checkpoint(said, row["signature"])
