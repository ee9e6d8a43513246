"""The loop that plays for the bots of all tables: it looks which tables have bots, and seats a player on each.

Nothing is remembered that the table service does not tell: after a crash the next look finds every table again, and
each bot does what its table asks of it. Should a second process play for the same bots, it takes their streams over,
table by table, and the first leaves those tables to it: for as long as they go on. Where nothing happens any more that
its bots should do, the other one has gone, and it takes them over in turn.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import structlog

from baohuang.client import ClientError, NotFoundError, Summary, TableClient, TakenOverError
from baohuang.metrics.bugs import Bugs
from baohuang.rpc.trouble import Trouble
from baohuang.rules.bots import is_bot
from baohuang.rules.state import PlayerId, TableId, TableStatus
from command_line.bots.errands import Errand, errand
from command_line.bots.runner import Bot

AGAIN_SECONDS: Final = 2.0
"""After how long a bot whose table did not answer, or refused it, comes back."""
_FOR_OTHERS: Final = (Errand.WAIT, Errand.GO)
_PART: Final = "bot"
_log = structlog.get_logger("bots")

NewBot = Callable[[TableId, PlayerId, int], Bot]
"""Gives the bot that is this player, at this table, on this seat."""


@dataclass(frozen=True, slots=True)
class _Standing:
    """A table's version, and since when it is seen to be so (seconds of the event loop's clock)."""

    version: int
    since: float


class Hosting:
    """Plays for bots; `run` is its loop. `lobby` lists tables for it.

    A table of which nothing new is seen for `still_seconds`, longer than a bot thinks, may have lost who played for it.
    `looking` tells for how long it could not be told which tables there are.
    """

    def __init__(
        self, lobby: TableClient, new_bot: NewBot, look_seconds: float, still_seconds: float, bugs: Bugs
    ) -> None:
        self._lobby: Final = lobby
        self._new_bot: Final = new_bot
        self._look_seconds: Final = look_seconds
        self._still_seconds: Final = still_seconds
        self._bugs: Final = bugs
        bugs.expect(_PART)
        self.looking: Final = Trouble(_log, "tables not looked for", "tables looked for again")
        self._standing: dict[TableId, _Standing] = {}
        self._playing: Final[dict[tuple[TableId, PlayerId], asyncio.Task[None]]] = {}

    async def run(self) -> None:
        """Run until it is cancelled; then its bots have stopped as well."""
        try:
            while True:
                await self._look()
                await asyncio.sleep(self._look_seconds)
        finally:
            for task in self._playing.values():
                task.cancel()
            await asyncio.gather(*self._playing.values(), return_exceptions=True)

    async def _look(self) -> None:
        try:
            tables = [table async for table in self._lobby.list_tables(status=TableStatus.OPEN, bots=True)]
        except ClientError as error:
            self.looking.failed(str(error))
            return
        self.looking.went_well()
        self._forget_all_but(tables)
        still = self._standing_still(tables)
        for table in tables:
            for seat, player in enumerate(table.players):
                playing = self._playing.get((table.table_id, player))
                if is_bot(player) and (playing is None or (playing.done() and table.table_id in still)):
                    self._begin(table.table_id, player, seat, _stay if playing is None else _relieve)

    def _begin(self, table_id: TableId, player: PlayerId, seat: int, play: "Play") -> None:
        bot = self._new_bot(table_id, player, seat)
        task = asyncio.create_task(play(bot, table_id, player), name=f"{player} at {table_id}")
        task.add_done_callback(self._report)
        self._playing[table_id, player] = task

    def _report(self, task: "asyncio.Task[None]") -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._bugs.met(_PART, error, bot=task.get_name())

    def _standing_still(self, tables: Sequence[Summary]) -> frozenset[TableId]:
        """Return the tables of which nothing new was seen for too long; from now on they are waited for anew."""
        now = asyncio.get_running_loop().time()
        still, standing = set(), {}
        for table in tables:
            seen = known = _Standing(table.version, now)
            if (before := self._standing.get(table.table_id)) and before.version == table.version:
                known = before
            if now - known.since >= self._still_seconds:
                still.add(table.table_id)
                known = seen
            standing[table.table_id] = known
        self._standing = standing
        return frozenset(still)

    def _forget_all_but(self, tables: Iterable[Summary]) -> None:
        """Forget who has left his table; who has not, but was taken over, is another process's."""
        seated = {(table.table_id, player) for table in tables for player in table.players}
        for left in [one for one, task in self._playing.items() if task.done() and one not in seated]:
            del self._playing[left]


Play = Callable[[Bot, TableId, PlayerId], Coroutine[Any, Any, None]]
"""Plays for a bot that is this player, at this table."""


async def _relieve(bot: Bot, table_id: TableId, player: PlayerId) -> None:
    """Play on for a bot that somebody else plays for, if its table waits for it: then he is gone."""
    try:
        view = await bot.client.get_table(table_id)
    except ClientError as error:
        _log.warning("table not looked at", table_id=table_id, player=player, error=str(error))
        return
    if errand(view.table, bot.seat, player) not in _FOR_OTHERS:
        await _stay(bot, table_id, player)


async def _stay(bot: Bot, table_id: TableId, player: PlayerId) -> None:
    """Play until there is nothing to play, or somebody else plays there for this bot."""
    _log.info("plays", table_id=table_id, player=player, seat=bot.seat)
    while True:
        try:
            return await bot.stay(table_id, player)
        except TakenOverError:
            _log.warning("another process plays", table_id=table_id, player=player)
            return None
        except NotFoundError:
            return None
        except ClientError as error:
            _log.warning("bot stopped, and comes back", table_id=table_id, player=player, error=str(error))
        await asyncio.sleep(AGAIN_SECONDS)
