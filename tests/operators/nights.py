"""A log to ask: tables of a week, played at a pace of milliseconds, with rulings, bans, and a hand still played."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from audit.honest import OPERATOR, PLAYERS, Play, Writer, banned
from baohuang.eventlog.chain import instant
from baohuang.eventlog.port import EventLog, StreamId
from baohuang.rules import commands as cmd
from baohuang.rules.clock import deadline_of
from baohuang.rules.events import Event
from baohuang.rules.rulesets import Options
from baohuang.rules.state import Instant, TableId, TableStatus, in_progress

MONDAY: Final = datetime.fromisoformat("2026-01-26T00:00:00Z")
"""The first day of the week that most of the log is of."""
_RULESETS: Final = ("ourgame-simple", "homy-standard", "homy-weihai", "ourgame-classic", "homy-qingdao", "homy-classic")
_CODE_DIGEST: Final = "5f" * 32


@dataclass(slots=True)
class Night(Play):
    """A table whose players take their time, now and then nearly all of it."""

    private: bool = False
    kicked: int | None = None
    """A seat whose player an operator kicks before anybody is emperor."""
    forgiven: bool = False
    """Whether the rulings of the last hand are taken back."""

    def commands(self, hands: int) -> Iterator[tuple[cmd.Command, tuple[Event, ...]]]:
        """Give accepted commands and their events until so many hands are played, or the table is closed."""
        options = Options(turn_seconds=15, declare_seconds=15, grace_seconds=3)
        digest = _CODE_DIGEST if self.private else ""
        yield self._do(OPERATOR, cmd.OpenTable(self.table_id, self.ruleset, options, digest, players=PLAYERS))
        while self._open.hands_played < hands and self._open.status is TableStatus.OPEN:
            self.at = self._somewhat_later()
            if self.kicked is not None and in_progress(self._open):
                yield self._do(OPERATOR, cmd.KickPlayer(self.kicked))
                self.kicked = None
            yield self._next()
        if self.forgiven:
            yield from self.reversals()

    def unfinished(self, commands: int) -> Iterator[tuple[cmd.Command, tuple[Event, ...]]]:
        """Give so many commands of a hand, which is not over by then."""
        for _, done in zip(range(commands), self.commands(1), strict=False):
            yield done
        assert in_progress(self._open)

    def _somewhat_later(self) -> Instant:
        now, due = datetime.fromisoformat(self.at), deadline_of(self._open)
        if due and self.dice.random() < 0.01:
            late = datetime.fromisoformat(due) - timedelta(milliseconds=self.dice.randrange(20, 400))
            if late > now:
                return Instant(instant(late))
        return Instant(instant(now + timedelta(milliseconds=self.dice.randrange(200, 2500))))


async def record_week(log: EventLog) -> None:
    """Fill a log: a night before the week, six in it, one of them private, one still played; and a player's bans."""
    for number, ruleset in enumerate((*_RULESETS, "homy-standard")):
        evening = MONDAY + timedelta(days=number - 1, hours=19)
        night = Night(TableId(f"table-{number}"), ruleset, number, at=Instant(instant(evening)))
        night.private, night.forgiven, night.kicked = number == 3, number == 4, 4 if number == 5 else None
        await _record(log, night.table_id, night.commands(hands=3))
    asleep = Night(TableId("table-asleep"), "homy-weihai", 8, at=Instant(instant(MONDAY + timedelta(days=5, hours=22))))
    await _record(log, asleep.table_id, asleep.all_trustees())
    last = Night(TableId("table-open"), "homy-standard", 7, at=Instant(instant(MONDAY + timedelta(days=6, hours=19))))
    last.restless = 0
    await _record(log, last.table_id, last.unfinished(60))
    await banned(log, "cai", 3)


async def _record(log: EventLog, table: TableId, commands: Iterator[tuple[cmd.Command, tuple[Event, ...]]]) -> None:
    writer = Writer(log, StreamId(table))
    for command, events in commands:
        await writer.append(command.player, command.at, events)
