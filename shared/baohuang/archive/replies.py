"""Whether each command of a file has its reply, and no reply is without its command."""

from collections.abc import Iterator
from typing import Final

import msgspec

from baohuang.archive.form import ReplyLine
from baohuang.audit.findings import Check, Finding
from baohuang.eventlog.port import Actor, RequestId, StoredEvent, StreamId, Version

_sorted: Final = msgspec.json.Encoder(order="sorted").encode


class RepliesAudit:
    """Holds replies against the commands that the events came of: where each of them ended."""

    def __init__(self, stream_id: StreamId) -> None:
        self._stream_id = stream_id
        self._unanswered: dict[tuple[Actor, RequestId], Version] = {}

    def expect(self, event: StoredEvent) -> None:
        """Take in the next event, to whose command a reply has to come."""
        self._unanswered[event.actor, event.request_id] = event.version

    def take(self, line: ReplyLine) -> Iterator[Finding]:
        """Take in the next reply, behind all events, and tell what is wrong with it."""
        version = self._unanswered.pop((line.actor, line.request_id), None)
        if version is None:
            message = f"a reply to {line.actor}'s request {line.request_id}, which no event comes of, or a second one"
            yield self._found(line.version, message)
        elif line.version != version:
            message = f"the reply to {line.actor}'s request names version {line.version}, and not this one"
            yield self._found(version, message)
        elif _sorted(msgspec.json.decode(line.outcome)) != _sorted({"tableId": self._stream_id, "version": version}):
            message = f"the reply to {line.actor}'s request has another outcome than this table and version"
            yield self._found(version, message)

    def end(self) -> Iterator[Finding]:
        """Tell which commands have no reply."""
        for (actor, _), version in self._unanswered.items():
            yield self._found(version, f"there is no reply to {actor}'s request, which ended here")

    def _found(self, version: Version, message: str) -> Finding:
        return Finding(Check.REPLY, self._stream_id, version, message)
