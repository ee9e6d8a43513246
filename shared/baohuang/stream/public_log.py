"""The log's public view, for services that read no other table of the log: to fill gaps, and to compute anew."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import msgspec

from baohuang.database.pool import Connection
from baohuang.stream.port import Message, Number
from baohuang.stream.queries import query
from baohuang.stream.table_messages import SETTLING, TableEvent, message_of

_BETWEEN: Final = query("public_between")


async def settling_between(connection: Connection, after: Number, through: Number, limit: int) -> Sequence[Message]:
    """Return the first `limit` messages of the kinds that settle after one number and up to another: a `Fill`.

    `after` is 0 or the number of such a message: each names the one before it.
    """
    rows: Sequence[Any] = await connection.fetch(_BETWEEN, after, through, SETTLING, limit)
    # The query names its columns in the order of TableEvent's fields.
    events = [replace(event, data=_canonical(event.data)) for event in (TableEvent(*row) for row in rows)]
    before = (after, *(Number(event.position) for event in events))
    return [message_of(event, preceded_by) for event, preceded_by in zip(events, before, strict=False)]


def _canonical(document: bytes) -> bytes:
    return msgspec.json.encode(msgspec.json.decode(document), order="sorted")
