"""The log's appends in group commit: which of them a flush takes, and in which order. See `database.group_commit`.

A flush takes at most one command a stream and one a request. Names alone it settles in its order, in which those who
give some up go first, so that others of it may take them.
"""

from collections.abc import Hashable, Sequence
from typing import Final, assert_never

from msgspec import Struct

from baohuang.database.flush_queue import Kind
from baohuang.database.group_commit import Busy, GroupCommit, Pace, Send
from baohuang.eventlog.chain import Link
from baohuang.eventlog.port import (
    Append,
    Appended,
    Duplicate,
    LogBusy,
    LogClosed,
    LogCorrupted,
    Outcome,
    OutcomeUnknown,
    Refused,
    StreamId,
    TooEarly,
    TooLate,
    Unstorable,
    VersionConflict,
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


def _word(outcome: Outcome | Exception) -> str:  # noqa: PLR0911 (one an outcome)
    match outcome:
        case Appended():
            return "Appended"
        case VersionConflict():
            return "VersionConflict"
        case Duplicate():
            return "Duplicate"
        case Refused():
            return "Refused"
        case TooEarly():
            return "TooEarly"
        case TooLate():
            return "TooLate"
        case Exception():
            return "Corrupted"
    assert_never(outcome)


_APPENDS: Final[Kind[Linked, Outcome]] = Kind(
    name="event log",
    lane=_stream,
    word=_word,
    alone_with=_request,
    order=_names_given_up_first,
    busy=LogBusy,
    unknown=OutcomeUnknown,
    closed=LogClosed,
    unstorable=Unstorable,
)
