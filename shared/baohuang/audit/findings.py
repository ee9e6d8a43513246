"""What verification finds: which check failed, where, by which clause, and what is wrong there."""

import enum
from dataclasses import dataclass

from baohuang.eventlog.port import NO_VERSION, StreamId, Version


class Check(enum.Enum):
    """What was checked."""

    CHAIN = "chain"
    """The hash of each event over it and its predecessor; the versions 1, 2, 3, …"""
    HEAD = "head"
    """That a stream is as long as its head says, and that it has one."""
    POSITIONS = "positions"
    """That the log has no holes, and a stream's events stand in their order."""
    EVENT = "event"
    """That what is stored is an event of its type."""
    COMMAND = "command"
    """That the rules let a recorded command through and bring about just the recorded events."""
    RULING = "ruling"
    """The same of a ruling: it follows from the table before it and what was known of clock and lines."""
    DEAL = "deal"
    """That the seed is the one committed to and gives, with the players' entropy, the cards that were dealt."""
    CHECKPOINT = "checkpoint"
    """That the log still is what a signed checkpoint said it was."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong. `version` is the event's, 0 where it is about a whole stream, or the whole log."""

    check: Check
    stream_id: StreamId
    version: Version
    message: str
    clause: str = ""
    """The id of the clause of the rules that says otherwise, where one does."""

    def __str__(self) -> str:
        place = self.stream_id + (f" at version {self.version}" if self.version != NO_VERSION else "")
        clause = f" ({self.clause})" if self.clause else ""
        return f"{self.check.value}: {place or 'the log'}{clause}: {self.message}"
