"""The loop that plays for the bots of all tables: it looks which tables have bots, and seats a player on each.

Nothing is remembered that the table service does not tell: after a crash the next look finds every table again, and
each bot does what its table asks of it. Should a second process play for the same bots, it takes their streams over,
table by table, and the first leaves those tables to it.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Final

import structlog

from baohuang.client import ClientError, NotFoundError, Summary, TableClient, TakenOverError
from baohuang.rules.bots import is_bot
from baohuang.rules.state import PlayerId, TableId, TableStatus
from command_line.bots.runner import Bot

AGAIN_SECONDS: Final = 2.0
"""After how long a bot whose table did not answer, or refused it, comes back."""
_log = structlog.get_logger("bots")

NewBot = Callable[[TableId, PlayerId, int], Bot]
"""Gives the bot that is this player, at this table, on this seat."""


class Hosting:
    """Plays for bots; `run` is its loop. `lobby` lists tables for it."""

    def __init__(self, lobby: TableClient, new_bot: NewBot, look_seconds: float) -> None:
        self._lobby: Final = lobby
        self._new_bot: Final = new_bot
        self._look_seconds: Final = look_seconds
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
            _log.warning("tables not looked for", error=str(error))
            return
        self._forget_all_but(tables)
        for table in tables:
            for seat, player in enumerate(table.players):
                if is_bot(player) and (table.table_id, player) not in self._playing:
                    self._begin(table.table_id, player, seat)

    def _begin(self, table_id: TableId, player: PlayerId, seat: int) -> None:
        _log.info("plays", table_id=table_id, player=player, seat=seat)
        bot = self._new_bot(table_id, player, seat)
        task = asyncio.create_task(_stay(bot, table_id, player), name=f"{player} at {table_id}")
        task.add_done_callback(_report)
        self._playing[table_id, player] = task

    def _forget_all_but(self, tables: Iterable[Summary]) -> None:
        """Forget who has left his table; who has not, but was taken over, is another process's."""
        seated = {(table.table_id, player) for table in tables for player in table.players}
        for left in [one for one, task in self._playing.items() if task.done() and one not in seated]:
            del self._playing[left]


async def _stay(bot: Bot, table_id: TableId, player: PlayerId) -> None:
    """Play until there is nothing to play, or somebody else plays there for this bot."""
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


def _report(task: "asyncio.Task[None]") -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.error("bot failed", bot=task.get_name(), exc_info=error)
