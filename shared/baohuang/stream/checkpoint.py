"""Where a consumer is, in the tables of its service's schema; every call is part of the caller's transaction."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from baohuang.database.pool import Connection
from baohuang.stream.port import Message, Number
from baohuang.stream.queries import query

_MAKE: Final = query("checkpoint_make")
_LOCK: Final = query("checkpoint_lock")
_ALARM: Final = query("checkpoint_alarm")
_CLEAR: Final = query("checkpoint_clear")
_MOVE: Final = query("checkpoint_move")
_HASHES: Final = query("passed_hashes")
_COUNT: Final = query("passed_count")
_PUT: Final = query("set_aside_put")
_SETTLE: Final = query("set_aside_settle")
_SKIPPED: Final = query("set_aside_skipped")
_UNSETTLED: Final = query("set_aside_unsettled")


@dataclass(frozen=True, slots=True)
class SetAside:
    """A message that could not be applied, the reason of the last try, and how many there were."""

    message: Message
    error: str
    tried: int


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A consumer's checkpoint, locked by the transaction of the connection until it ends."""

    connection: Connection
    consumer: str
    number: Number
    alarm: str | None

    async def hashes(self, numbers: Sequence[Number]) -> Mapping[Number, str]:
        """Return the hashes of those of the messages that were gone past."""
        rows: Sequence[Any] = await self.connection.fetch(_HASHES, self.consumer, numbers)
        return {Number(row["number"]): row["hash"] for row in rows}

    async def move(self, past: Sequence[Message]) -> None:
        """Go past messages, in order."""
        numbers, hashes = [message.number for message in past], [message.hash for message in past]
        await self.connection.execute(_MOVE, self.consumer, numbers, hashes, numbers[-1])

    async def raise_alarm(self, finding: str) -> None:
        """Stop the consumer until somebody has looked."""
        await self.connection.execute(_ALARM, self.consumer, finding)

    async def clear_alarm(self) -> None:
        """Let the consumer go on."""
        await self.connection.execute(_CLEAR, self.consumer)

    async def passed(self) -> int:
        """Return how many messages were gone past."""
        count: int = await self.connection.fetchval(_COUNT, self.consumer)
        return count

    async def set_aside(self, message: Message, error: Exception) -> int:
        """Set a message aside, or note that another try failed; return how many tries there were."""
        headers, told = json.dumps(dict(message.headers)), f"{type(error).__name__}: {error}"
        tried: int = await self.connection.fetchval(
            _PUT, self.consumer, message.number, message.subject, headers, message.body, told
        )
        return tried

    async def settle(self, numbers: Sequence[Number], settled_as: str) -> Sequence[Number]:
        """Settle what was set aside as "applied" or "skipped"; return which of the numbers were to be settled."""
        rows: Sequence[Any] = await self.connection.fetch(_SETTLE, self.consumer, numbers, settled_as)
        return sorted(Number(row["number"]) for row in rows)

    async def skipped(self, numbers: Sequence[Number]) -> frozenset[Number]:
        """Return which of the messages were given up by an operator."""
        rows: Sequence[Any] = await self.connection.fetch(_SKIPPED, self.consumer, numbers)
        return frozenset(Number(row["number"]) for row in rows)

    async def unsettled(self) -> Sequence[SetAside]:
        """Return what is set aside and still to be settled, in order."""
        return [_set_aside(row) for row in await self.connection.fetch(_UNSETTLED, self.consumer)]


async def lock(connection: Connection, consumer: str) -> Checkpoint:
    """Lock a consumer's checkpoint for the connection's transaction, making it if it is new."""
    row: Any = await connection.fetchrow(_LOCK, consumer)
    if row is None:
        await connection.execute(_MAKE, consumer)
        row = await connection.fetchrow(_LOCK, consumer)
    return Checkpoint(connection, consumer, Number(row["number"]), row["alarm"])


def _set_aside(row: Any) -> SetAside:
    message = Message(Number(row["number"]), row["subject"], row["body"], json.loads(row["headers"]))
    return SetAside(message, row["error"], row["tried"])
