"""A forger with every right on the database, who also knows how hashes are made and makes them anew."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import asyncpg
from msgspec import structs

from baohuang.eventlog import chain
from baohuang.eventlog.codec import decode, encode
from baohuang.eventlog.port import EventLog, StoredEvent, StreamId, Version
from baohuang.rules import events as ev

_INSERT = """
    insert into eventlog.events (position, recorded_at, version, stream_id, type, actor, request_id, data, salt, hash)
    values ($1, $2, $3, $4, $5, $6, $7, convert_from($8, 'UTF8')::jsonb, $9, $10)
"""


@dataclass(frozen=True, slots=True)
class Forger:
    """Rewrites streams so that every hash is right again; positions are those of the events taken over."""

    connection: asyncpg.Connection
    log: EventLog

    async def rewrite(self, stream_id: StreamId, change: Callable[[list[StoredEvent]], Sequence[StoredEvent]]) -> None:
        """Put in a stream's place what `change` makes of it, numbered and hashed anew; the head follows."""
        events = change(list(await self.log.read_stream(stream_id, limit=100_000)))
        await self.connection.execute("delete from eventlog.events where stream_id = $1", stream_id)
        previous = bytes(32)
        for version, event in enumerate(events, 1):
            one = _hashed(structs.replace(event, version=Version(version)), previous)
            previous = one.hash
            await self.connection.execute(
                _INSERT, one.position, one.recorded_at, one.version, one.stream_id, one.type, one.actor,
                one.request_id, one.data, one.salt, one.hash,
            )  # fmt: skip
        await self.connection.execute(
            "update eventlog.heads set version = $2, hash = $3 where stream_id = $1", stream_id, len(events), previous
        )


def _hashed(event: StoredEvent, previous: bytes) -> StoredEvent:
    """Return the event with the hash that follows on another: what is asked for is what `follow` compares with."""
    public = chain.publish(event)
    part = chain._public_part(
        event.stream_id,
        event.version,
        event.type,
        actor=event.actor,
        recorded_at=chain.instant(event.recorded_at),
        data=chain._decode(public.data),
    )
    return structs.replace(event, hash=chain.next_hash(previous, part, public.hidden_digest))


def first_of(events: Sequence[StoredEvent], kind: type[ev.Event]) -> int:
    """Return the index of the first event of a kind."""
    return next(index for index, event in enumerate(events) if event.type == kind.__name__)


def with_fields(event: StoredEvent, **changes: Any) -> StoredEvent:
    """Return a stored event that says something else."""
    changed: Any = replace(decode(event.type, event.data), **changes)
    return structs.replace(event, data=encode(changed)[1])
