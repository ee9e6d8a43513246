"""Logs with finished tables in them, as the table service would leave them: with summaries of their streams."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

import msgspec

from audit.honest import OPERATOR, Play
from baohuang.eventlog.codec import encode
from baohuang.eventlog.port import (
    NO_HASH,
    NO_VERSION,
    Actor,
    Append,
    Appended,
    EventLog,
    NewEvent,
    RequestId,
    StreamId,
    Version,
)
from baohuang.eventlog.summaries import summary_of
from baohuang.rules import commands as cmd
from baohuang.rules.events import Event
from baohuang.rules.state import TableId
from table_service.claims import claims_of

NAMES: Final = ("table-a", "table-b", "table-c")
OPEN: Final = StreamId("table-open")


@dataclass(slots=True)
class Served:
    """Appends what a play brings about as the table service does."""

    log: EventLog
    play: Play
    version: Version = NO_VERSION
    hash: bytes = NO_HASH

    @property
    def stream_id(self) -> StreamId:
        """The table's stream."""
        return StreamId(self.play.table_id)

    async def hands(self, hands: int) -> None:
        """Play so many hands, or until the table is dissolved, with all reversals."""
        for command, events in self.play.commands(hands):
            await self.append(command, events)

    async def close(self) -> None:
        """Have an operator close the table, unless it is dissolved."""
        table = self.play.table
        if table is not None and table.status.value == "TABLE_STATUS_OPEN":
            await self.append(*self.play._do(OPERATOR, cmd.CloseTable("the night is over")))

    async def append(self, command: cmd.Command, events: tuple[Event, ...]) -> None:
        """Append a command's events."""
        assert self.play.table is not None
        claims = claims_of(events, self.play.table)
        outcome = await self.log.append(
            Append(
                stream_id=self.stream_id,
                expected_version=self.version,
                expected_hash=self.hash,
                events=tuple(NewEvent(*encode(event)) for event in events),
                actor=Actor(command.player),
                request_id=RequestId(f"{self.stream_id}/{self.version}"),
                request_digest=bytes(32),
                recorded_at=datetime.fromisoformat(command.at),
                outcome=msgspec.json.encode({"tableId": self.stream_id, "version": self.version + len(events)}),
                summary=summary_of(self.play.table),
                claims=tuple(claims.claims),
                releases=tuple(claims.releases),
            )
        )
        assert isinstance(outcome, Appended), outcome
        self.version, self.hash = outcome.version, outcome.hash


async def finished(log: EventLog, name: str, ruleset: str = "homy-standard", seed: int = 1) -> Served:
    """Have a hand played at a table, which is then finished."""
    served = Served(log, Play(TableId(name), ruleset, seed))
    await served.hands(1)
    await served.close()
    return served


async def unfinished(log: EventLog) -> Served:
    """Have a table that is still played at."""
    served = Served(log, Play(TableId(OPEN), "homy-standard", 3, restless=0.0))
    for (command, events), _ in zip(served.play.commands(1), range(40), strict=False):
        await served.append(command, events)
    return served
