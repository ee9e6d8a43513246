"""One hand, played beforehand: the moves in order, and what each player is then sent.

Development seeds deal every table the same first hand, so the same moves are legal at every table, and whoever makes
them need not think.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import RequestId
from baohuang.gen.rules.v1 import ruleset_pb2
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.gen.table.v1 import watch_pb2
from baohuang.rpc.messages import choice_to_proto, to_proto
from baohuang.rules import commands as cmd
from baohuang.rules.phases.asking import seats_to_act
from baohuang.rules.redact import mask
from baohuang.rules.rulesets import Options, RulesetId
from baohuang.rules.state import ALL_SEATS, NOBODY, PlayerId, Table, TableId, in_progress
from command_line.bots.policy import choose
from table_service.clock import DatabaseClock
from table_service.curtain import Learnt
from table_service.handler import CommandHandler
from table_service.happened import Happened
from table_service.request import Request
from table_service.seeds import DevelopmentSeeds
from table_service.tables import Tables
from table_service.views import view_of
from table_service.watch.telling import Telling

DEV_SEED: Final = 7
RULESET: Final = RulesetId("ourgame-simple")
OPTIONS: Final = Options(turn_seconds=300, declare_seconds=300)
"""No clock ends a turn, however slow the machine is."""
_TABLE: Final = TableId("01980000-0000-7000-8000-000000000000")
_PLAYERS: Final = tuple(PlayerId(f"player-{seat}") for seat in ALL_SEATS)


@dataclass(frozen=True, slots=True)
class Play:
    """One move: whose it is, its request without ids, the version it brings the table to, and its last update."""

    seat: int
    request: bytes
    version: int
    update: bytes
    """A serialized WatchTableResponse, as the public is sent it."""


@dataclass(frozen=True, slots=True)
class Script:
    """A hand from the deal to its last move; `snapshot` is what a seat is sent first."""

    plays: Sequence[Play]
    snapshot: bytes


async def recorded() -> Script:
    """Let five bots play the hand over a log in memory."""
    recorder = _Recorder()
    await recorder.begin()
    view = view_of(await recorder.tables.hold(_TABLE), _PLAYERS[0], datetime.now(UTC))
    plays = [play async for play in recorder.plays()]
    return Script(plays, watch_pb2.WatchTableResponse(snapshot=view).SerializeToString())


def opening() -> pb.OpenTableRequest:
    """Return the request for a table of the script, without a request id."""
    return pb.OpenTableRequest(ruleset=RULESET, options=to_proto(OPTIONS, ruleset_pb2.Options))


class _Recorder:
    def __init__(self) -> None:
        log = MemoryLog()
        self.tables = Tables(log, self._learn)
        self._clock = DatabaseClock(log)
        self._handler = CommandHandler(log, self.tables, self._clock, DevelopmentSeeds(DEV_SEED))
        self._last: Happened | None = None
        self._commands = 0

    def _learn(self, _table_id: TableId, learnt: Sequence[Learnt]) -> None:
        self._last = learnt[-1].happened

    async def begin(self) -> None:
        """Open the table, seat everybody, and start the hand."""
        await self._clock.measure()
        await self._carry_out(0, cmd.OpenTable(_TABLE, RULESET, OPTIONS))
        for seat in ALL_SEATS:
            await self._carry_out(seat, cmd.SitDown(seat))
        for seat in ALL_SEATS:
            await self._carry_out(seat, cmd.SetReady(ready=True))

    async def plays(self) -> AsyncIterator[Play]:
        """Yield the moves of the hand."""
        table = await self._table()
        while in_progress(table) and table.hand is not None:
            seat = seats_to_act(table.hand)[0]
            move = choose(mask(table, seat), seat)
            happened = await self._carry_out(seat, move)
            request = choice_to_proto(move, pb.ActRequest, "action").SerializeToString()
            yield Play(seat, request, happened.stored.version, Telling(happened).to(NOBODY).message)
            table = happened.table

    async def _table(self) -> Table:
        table = (await self.tables.hold(_TABLE)).table
        if table is None:
            raise LookupError("the table is open")
        return table

    async def _carry_out(self, seat: int, action: cmd.Action) -> Happened:
        self._commands += 1
        request_id = RequestId(str(self._commands))
        await self._handler.handle(Request(_TABLE, _PLAYERS[seat], request_id, b"", action))
        if self._last is None:
            raise LookupError("a command was carried out")
        return self._last
