"""How long after the end of a hand its score is told to a watcher, with nothing else going on.

One table service, one scoring service, PostgreSQL and NATS with their defaults, all processes of their own. Five
players play hand after hand at one table, which they watch all the time. From the moment that `HandFinished` was
decided, which is before its commit, to the moment that a spectator has the notice; the service's clock is this
machine's. Less is better.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Final

import scoring_service.migrations
from baohuang.client import DevelopmentIdentity, Moment, TableClient, connect
from baohuang.embedded.nats import EmbeddedNats
from baohuang.eventlog.port import NO_VERSION
from baohuang.rules.events import HandFinished
from baohuang.rules.state import ALL_SEATS, PlayerId, TableId
from baohuang.scoring.events import HandScored
from command_line.bots.policy import choose
from command_line.service_process import ServiceProcess
from command_line.services import SCORING

from .processes import Serving, serving
from .row import Bench, Row

_HANDS: Final = 15
_PATIENCE_SECONDS: Final = 60.0
_NAME: Final = "score.notice"


async def run(_wanted: Sequence[str]) -> Sequence[Row]:
    """Measure hand after hand."""
    with tempfile.TemporaryDirectory() as folder:
        nats = EmbeddedNats(Path(folder))
        url = await nats.start()
        try:
            async with serving(1, {"BAOHUANG_NATS_URL": url}) as tables, _scoring(tables, url, Path(folder)):
                late = await _measured(tables.services[0].address)
        finally:
            await nats.destroy()
    return [Row(_NAME, statistics.median(late), "ms", 50.0, "the bar: 50 ms")]


@asynccontextmanager
async def _scoring(tables: Serving, url: str, folder: Path) -> AsyncIterator[None]:
    await asyncio.to_thread(scoring_service.migrations.migrate, tables.dsn)
    environment = {"BAOHUANG_POSTGRES_DSN": tables.dsn, "BAOHUANG_NATS_URL": url, "BAOHUANG_INSECURE_DEV": "true"}
    service = ServiceProcess(SCORING, folder, environment)
    await service.start()
    try:
        yield
    finally:
        await service.stop()


async def _measured(address: str) -> list[float]:
    """Play the hands, and return for each how late its score was told, in milliseconds."""
    async with AsyncExitStack() as connections:
        spectator, *players = [
            await connections.enter_async_context(connect(address, DevelopmentIdentity(PlayerId(name))))
            for name in ("watcher", *(f"player-{seat}" for seat in ALL_SEATS))
        ]
        table_id = (await spectator.open_table("ourgame-simple")).table_id
        moments = await connections.enter_async_context(aclosing(spectator.watch(table_id)))
        await anext(moments)
        for seat, player in enumerate(players):
            await player.sit_down(table_id, seat)
        playing = [asyncio.create_task(_play(player, seat, table_id)) for seat, player in enumerate(players)]
        try:
            async with asyncio.timeout(_HANDS * _PATIENCE_SECONDS):
                return [await _one_hand(players, table_id, moments) for _ in range(_HANDS)]
        finally:
            for task in playing:
                task.cancel()
            await asyncio.gather(*playing, return_exceptions=True)


async def _play(player: TableClient, seat: int, table_id: TableId) -> None:
    """Make a seat's moves, hand after hand."""
    past = NO_VERSION
    async with aclosing(player.watch(table_id)) as moments:
        async for moment in moments:
            if seat in moment.to_act and moment.version >= past:
                past = (await player.act(table_id, choose(moment.table, seat))).version


async def _one_hand(players: Sequence[TableClient], table_id: TableId, moments: AsyncIterator[Moment]) -> float:
    """Start a hand, and return how late its score is told, in milliseconds."""
    for player in players:
        await player.set_ready(table_id, ready=True)
    decided_at: datetime | None = None
    async for moment in moments:
        if moment.update is not None and isinstance(moment.update.event, HandFinished):
            decided_at = moment.update.recorded_at
        if isinstance(moment.posted, HandScored) and decided_at is not None:
            return (time.time() - decided_at.timestamp()) * 1000
    raise AssertionError("a watch has no end of its own")


BENCH: Final = Bench((_NAME,), run)
