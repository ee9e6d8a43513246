"""The log's appends in group commit: which of them a flush takes, and in which order. See `database.group_commit`.

A flush takes at most one command a stream and one a request. Names alone it settles in its order, in which those who
give some up go first, so that others of it may take them.
"""

from collections.abc import Hashable, Sequence
from typing import Final

from msgspec import Struct

from baohuang.database.flush_queue import Kind
from baohuang.database.group_commit import Busy, GroupCommit, Pace, Send
from baohuang.eventlog.chain import Link
from baohuang.eventlog.port import (
    Append,
    LogBusy,
    LogClosed,
    LogCorrupted,
    Outcome,
    OutcomeUnknown,
    StreamId,
    Unstorable,
)

Settled = Outcome | LogCorrupted | Busy


class Linked(Struct, frozen=True):
    """A command with its events chained, ready to be written."""

    command: Append
    links: tuple[Link, ...]


LogCommits = GroupCommit[Linked, Outcome]


def log_commits(send: "Send[Linked, Outcome]", pace: Pace | None = None) -> LogCommits:
    """Return the flush loop of a log.

    An append raises LogClosed, LogBusy, OutcomeUnknown, Unstorable, LogCorrupted.
    """
    return GroupCommit(_APPENDS, send, pace)


def _stream(linked: Linked) -> StreamId:
    return linked.command.stream_id


def _request(linked: Linked) -> Sequence[Hashable]:
    return ((linked.command.actor, linked.command.request_id),)


def _names_given_up_first(linked: Linked) -> tuple[bool, bool]:
    """Order who only gives names up before who takes some too, and both before those who give up none."""
    return not linked.command.releases, bool(linked.command.claims)


_APPENDS: Final = Kind(
    name="event log",
    lane=_stream,
    alone_with=_request,
    order=_names_given_up_first,
    busy=LogBusy,
    unknown=OutcomeUnknown,
    closed=LogClosed,
    unstorable=Unstorable,
)
