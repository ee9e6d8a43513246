"""A stream of the log as the lines of its archive, and in what two such lines differ."""

from collections.abc import AsyncIterator
from typing import Final

import msgspec
from msgspec import structs

from baohuang.archive.form import FORMAT, EventLine, ReplyLine, TableLine, event_line, reply_line
from baohuang.eventlog.port import NO_VERSION, Actor, EventReader, Head, RequestId, StoredEvent

Line = TableLine | EventLine | ReplyLine

_PAGE: Final = 1000
_sorted: Final = msgspec.json.Encoder(order="sorted").encode


async def lines_of(log: EventReader, head: Head) -> AsyncIterator[Line]:
    """Give a stream's lines up to a head; what comes behind it meanwhile is for the next time. Raises LogUnavailable.

    What is stored is given as it is: whether the chain holds is the caller's to check.
    """
    yield TableLine(FORMAT, head.stream_id, head.version, head.hash.hex(), msgspec.Raw(head.summary))
    commands: dict[tuple[Actor, RequestId], None] = {}
    async for event in _events(log, head):
        commands[event.actor, event.request_id] = None
        yield event_line(event)
    for actor, request_id in commands:
        reply = await log.find_request(actor, request_id)
        if reply is not None and reply.stream_id == head.stream_id:
            yield reply_line(actor, request_id, reply)


def place_of(line: Line) -> str:
    """Name what a line is about."""
    match line:
        case TableLine():
            return "the head"
        case EventLine():
            return f"version {line.version}"
        case ReplyLine():
            return f"the reply to {line.actor}'s request {line.request_id}"


def differing(one: Line, other: Line) -> list[str]:
    """Return the names of what differs between two lines of one kind, JSON being compared as what it says."""
    fields = structs.fields(one)
    return [
        field.encode_name
        for field in fields
        if _comparable(getattr(one, field.name)) != _comparable(getattr(other, field.name))
    ]


def _comparable(value: object) -> object:
    return _sorted(msgspec.json.decode(value)) if isinstance(value, msgspec.Raw) else value


async def _events(log: EventReader, head: Head) -> AsyncIterator[StoredEvent]:
    version = NO_VERSION
    while version < head.version:
        page = await log.read_stream(head.stream_id, version, min(_PAGE, head.version - version))
        if not page:
            return
        for event in page:
            yield event
        version = page[-1].version
