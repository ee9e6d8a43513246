"""One publisher a source: a leased row with an epoch, changed by compare-and-set.

    free ──take──► held ──keep──► held …
     ▲              │
     └──── expired, or given back

It saves work and nothing more: two publishers at once do no harm, since JetStream refuses the one that is behind.
"""

import secrets
from dataclasses import dataclass
from typing import Any, Final

from baohuang.database.pool import FAILURES, Pool
from baohuang.eventlog.port import LogUnavailable
from baohuang.stream.port import Number
from baohuang.stream.queries import query

LEASE_SECONDS: Final = 3.0
_TAKE: Final = query("lease_take")
_KEEP: Final = query("lease_keep")


@dataclass(frozen=True, slots=True)
class Held:
    """A lease that was taken: its epoch, and how far the one before had published by its own account."""

    epoch: int
    number: Number


class LeaseLost(Exception):  # noqa: N818 (a state of the lease)
    """Somebody else has taken the lease."""


class Lease:
    """The lease of one source, in the table `relays` of the pool's schema; every instance is another holder.

    All of it raises LogUnavailable when the database does not answer.
    """

    def __init__(self, pool: Pool, source: str, seconds: float = LEASE_SECONDS) -> None:
        """Take `seconds` as the length of a lease."""
        self._pool: Final = pool
        self._source: Final = source
        self._seconds: Final = seconds
        self._holder: Final = secrets.token_hex(8)

    async def take(self) -> Held | None:
        """Take the lease if nobody has it."""
        return await self._taken(by_force=False)

    async def seize(self) -> Held:
        """Take the lease from whoever has it."""
        held = await self._taken(by_force=True)
        if held is None:
            raise LeaseLost(self._source)
        return held

    async def keep(self, held: Held, number: Number) -> None:
        """Keep the lease, and note the number published last. Raises LeaseLost."""
        await self._kept(held, number, self._seconds)

    async def give_back(self, held: Held, number: Number) -> None:
        """Let the next one have it at once. Raises LeaseLost."""
        await self._kept(held, number, 0.0)

    async def _taken(self, *, by_force: bool) -> Held | None:
        row = await self._row(_TAKE, self._source, self._holder, self._seconds, by_force)
        return Held(row["epoch"], Number(row["number"])) if row else None

    async def _kept(self, held: Held, number: Number, seconds: float) -> None:
        if await self._row(_KEEP, self._source, self._holder, held.epoch, seconds, number) is None:
            raise LeaseLost(self._source)

    async def _row(self, text: str, *arguments: object) -> Any:
        try:
            return await self._pool.fetchrow(text, *arguments)
        except FAILURES as error:
            raise LogUnavailable(f"{type(error).__name__}: {error}") from error
