"""What verification finds: which check failed, where, by which clause, and what is wrong there."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from baohuang.audit.told import Told
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
    LIST = "list"
    """That rulings are listed for whom they are about, nothing else is, and tables are by what their events come to."""
    CHECKPOINT = "checkpoint"
    """That the log still is what a signed checkpoint said it was."""
    REPLY = "reply"
    """That each command in an archive has the reply that was given to it, and no other."""


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

    @property
    def told(self) -> Told:
        """What is wrong as one can tell it to players: where, and of what kind."""
        wrong = _WRONG[self.check]
        if self.version == NO_VERSION:
            return wrong
        return Told(f"at version {self.version}: {wrong.english}", f"版本 {self.version}：{wrong.chinese}")


_WRONG: Final[Mapping[Check, Told]] = MappingProxyType(
    {
        Check.CHAIN: Told(
            "what stands there was changed, moved or taken away later", "此处的记录事后被改动、移位或删除"
        ),
        Check.HEAD: Told("the record does not end where it says it does", "记录的结尾与其所称不符"),
        Check.POSITIONS: Told("the record has a hole, or is not in its order", "记录有缺漏，或次序不对"),
        Check.EVENT: Told("what stands there cannot be read", "此处的记录无法读取"),
        Check.COMMAND: Told("by the rules something else would have happened", "按规则应发生的与记录不同"),
        Check.RULING: Told(
            "by the rules another ruling, or none, would have been made", "按规则应作出不同的裁定，或没有裁定"
        ),
        Check.DEAL: Told("the deal is not the one that the seed gives", "发牌结果与种子不符"),
        Check.LIST: Told("what lists show is not what follows from the record", "列表所示与记录不符"),
        Check.CHECKPOINT: Told("the record is not what was signed before", "记录与此前签名确认的不符"),
        Check.REPLY: Told("what was answered is not what the record says", "所答复的与记录不符"),
    }
)
