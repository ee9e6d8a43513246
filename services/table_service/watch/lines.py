"""Players' lines during a hand: recorded when lost and when back, as evidence for whoever asks later (FINE-5, RULE-1).

    last stream ends ──► away ──2 s──► ReportConnection(lost), unless he is back by then, here or elsewhere
    stream opens, or a loss is learnt of who watches here ──► ReportConnection(back)

The rules take one of each a seat and turn. What they refuse for that reason is tried again in the next turn, so what is
recorded comes to what is so; a deadline that comes before that is told by `lost` and `watching`, for its ruling to say.
A replica that dies reports nothing, nothing is reported while one drains, and nothing of who never opened a stream.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import Final, Self
from uuid import uuid4

import structlog

from baohuang.eventlog.chain import instant
from baohuang.eventlog.port import EventLogError, RequestId
from baohuang.metrics.bugs import Bugs
from baohuang.rpc.errors import NotFound, Reason, Refusal
from baohuang.rules.commands import LostLine, ReportConnection
from baohuang.rules.state import Hand, Instant, PlayerId, Table, TableId, in_progress
from table_service.deadlines import Alarm, CallLater
from table_service.handler import CommandHandler
from table_service.request import Request
from table_service.tables import Tables
from table_service.watch.hub import Hub
from table_service.watch.subscription import Ending, Subscription

LINE: Final = PlayerId("@line")
"""Who reports lines. No player is called so: a player's id begins with a letter or a digit."""
AWAY_SECONDS: Final = 2.0
"""How long who lost his stream may take to open another one before it is recorded."""
_AWAY_HELD: Final = 10_000
_NO_NEWS: Final = (Reason.ALREADY_REPORTED, Reason.WRONG_PHASE)
_log = structlog.get_logger("table_service")

_Line = tuple[TableId, PlayerId]


class Lines:
    """Reports lines between entering and leaving it as an async context manager."""

    def __init__(
        self,
        tables: Tables,
        handler: CommandHandler,
        hub: Hub,
        now: Callable[[], datetime],
        *,
        call_later: CallLater | None = None,
        away_seconds: float = AWAY_SECONDS,
        bugs: Bugs | None = None,
    ) -> None:
        self._told_of: Final = (bugs or Bugs()).of_tasks("lines")
        self._tables = tables
        self._handler = handler
        self._hub = hub
        self._now = now
        self._call_later = call_later or asyncio.get_running_loop().call_later
        self._away_seconds = away_seconds
        self._alarms: dict[_Line, Alarm] = {}
        self._away: OrderedDict[_Line, Instant] = OrderedDict()
        self._reporting: dict[_Line, asyncio.Task[None]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for alarm in self._alarms.values():
            alarm.cancel()
        self._alarms.clear()
        await asyncio.gather(*self._reporting.values(), return_exceptions=True)

    @contextmanager
    def carried_by(self, subscription: Subscription) -> Iterator[None]:
        """Hold that a player has a line as long as the block lasts."""
        line = subscription.table_id, subscription.player
        self.is_back(*line)
        self._check(line)
        try:
            yield
        finally:
            if subscription.ending not in {Ending.TAKEN_OVER, Ending.DRAINING}:
                self._ended(line)

    def is_back(self, table_id: TableId, player: PlayerId) -> None:
        """Hear that a player has a stream of the table, here or on another replica."""
        line = table_id, player
        self._away.pop(line, None)
        if alarm := self._alarms.pop(line, None):
            alarm.cancel()

    def learn(self, table_id: TableId, table: Table) -> None:
        """Compare what is recorded of the table's lines with what is so, after something happened there."""
        hand = table.hand
        if hand is None or self._hub.is_draining:
            return
        for player, recorded in zip(hand.players, hand.connections, strict=True):
            if recorded.lost_at or (self._away and (table_id, player) in self._away):
                self._check((table_id, player))

    def lost(self, table_id: TableId, due_at: Instant) -> tuple[LostLine, ...]:
        """Return the lines that are lost by what is known here and not recorded yet, if the hand has that deadline."""
        players = self._players_until(table_id, due_at)
        return tuple(LostLine(seat, since) for seat, who in players if (since := self._away.get((table_id, who))))

    def watching(self, table_id: TableId, due_at: Instant) -> tuple[int, ...]:
        """Return the seats whose players have a stream here, whatever is recorded, if the hand has that deadline."""
        players = self._players_until(table_id, due_at)
        return tuple(seat for seat, who in players if self._hub.has_stream(table_id, who))

    def _players_until(self, table_id: TableId, due_at: Instant) -> Iterable[tuple[int, PlayerId]]:
        """Return who plays the hand, by seat; nobody if it has another deadline: then what is held here may be old."""
        held = self._tables.peek(table_id)
        hand = held.table.hand if held and held.table else None
        return enumerate(hand.players) if hand and hand.due_at == due_at else ()

    def _ended(self, line: _Line) -> None:
        """Wait for a player whose stream ended, if he plays a hand."""
        if self._hub.is_draining or self._hand_of(line) is None:
            return
        if alarm := self._alarms.pop(line, None):
            alarm.cancel()
        since = Instant(instant(self._now()))
        self._alarms[line] = self._call_later(self._away_seconds, partial(self._stays_away, line, since))

    def _stays_away(self, line: _Line, since: Instant) -> None:
        self._alarms.pop(line, None)
        if self._hub.has_stream(*line) or self._hub.is_draining:
            return
        self._away[line] = since
        if len(self._away) > _AWAY_HELD:
            self._away.popitem(last=False)
        self._check(line)

    def _hand_of(self, line: _Line) -> Hand | None:
        """Return the unfinished hand that the player plays, None if there is none."""
        table_id, player = line
        held = self._tables.peek(table_id)
        table = held.table if held else None
        if table is None or table.hand is None or not in_progress(table) or player not in table.hand.players:
            return None
        return table.hand

    def _check(self, line: _Line) -> None:
        """Report the player's line if what is recorded is not so, and may be put right in this turn."""
        hand = self._hand_of(line)
        if hand is None:
            self._away.pop(line, None)
            return
        seat = hand.players.index(line[1])
        recorded, since = hand.connections[seat], self._away.get(line)
        if recorded.lost_at and self._hub.has_stream(*line):
            if recorded.restored_in != hand.turn_version:
                self._start(line, ReportConnection(seat, connected=True))
        elif since and recorded.lost_at:
            del self._away[line]
        elif since and recorded.lost_in != hand.turn_version:
            self._start(line, ReportConnection(seat, connected=False, since=since))

    def _start(self, line: _Line, action: ReportConnection) -> None:
        if line in self._reporting:
            return
        task = asyncio.create_task(self._report(line, action), name=f"line of {line[1]} at {line[0]}")
        self._reporting[line] = task
        task.add_done_callback(lambda _: self._reporting.pop(line, None))
        task.add_done_callback(self._told_of)

    async def _report(self, line: _Line, action: ReportConnection) -> None:
        """Have it recorded; and then look again, for the line may have changed meanwhile."""
        request = Request(line[0], LINE, RequestId(str(uuid4())), b"", action)
        try:
            await self._handler.handle(request)
        except NotFound:
            self._away.pop(line, None)
        except (Refusal, EventLogError) as error:
            if not isinstance(error, Refusal) or error.reason not in _NO_NEWS:
                _log.warning("line not reported", table_id=line[0], error=type(error).__name__)
        else:
            asyncio.get_running_loop().call_soon(self._check, line)
