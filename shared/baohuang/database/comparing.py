"""Comparing what two tables hold, row by row, in constant memory: what is there with what a recomputation gives."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from baohuang.database.pool import Connection


@dataclass(frozen=True, slots=True)
class Rows:
    """A query that gives rows of two columns, in ascending order of the first, which no two rows share.

    `key` tells the row from all others and sorts as the server sorts it; `row` is all that is compared, as text.
    """

    name: str
    text: str
    arguments: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """A row that is not the same on both sides; None where there is none."""

    table: str
    key: str
    found: str | None
    wanted: str | None

    def __str__(self) -> str:
        if self.found is None:
            return f"{self.table} {self.key}: missing; recomputed: {self.wanted}"
        if self.wanted is None:
            return f"{self.table} {self.key}: nothing leads to it: {self.found}"
        return f"{self.table} {self.key}: {self.found}; recomputed: {self.wanted}"


async def differences(rows: Rows, found_by: Connection, wanted_by: Connection) -> AsyncIterator[Difference]:
    """Run a query over two connections, both in a transaction, and give each row that only one of them has so."""
    found, wanted = _read(rows, found_by), _read(rows, wanted_by)
    left, right = await anext(found, None), await anext(wanted, None)
    while left is not None or right is not None:
        if left is not None and (right is None or left[0] < right[0]):
            yield Difference(rows.name, left[0], left[1], None)
            left = await anext(found, None)
        elif right is not None and (left is None or right[0] < left[0]):
            yield Difference(rows.name, right[0], None, right[1])
            right = await anext(wanted, None)
        elif left is not None and right is not None:
            if left != right:
                yield Difference(rows.name, left[0], left[1], right[1])
            left, right = await anext(found, None), await anext(wanted, None)


async def _read(rows: Rows, connection: Connection) -> AsyncIterator[tuple[str, str]]:
    row: Any
    async for row in connection.cursor(rows.text, *rows.arguments, prefetch=500):
        yield row["key"], row["row"]
