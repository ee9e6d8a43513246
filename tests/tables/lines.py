"""A hand in a time that stands still, whose players open streams of it and lose them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from baohuang.eventlog.codec import decode
from baohuang.eventlog.memory import MemoryLog
from baohuang.rules.events import ConnectionLost, ConnectionRestored, Event, TrusteeshipEntered
from baohuang.rules.state import PlayerId, TableId
from eventually import eventually
from table_service.clock import moment
from table_service.wiring import Limits, Timing
from tables.games import PLAYERS, Game, started
from tables.replicas import Replica, replica
from tables.virtual_time import EPOCH, VirtualTime, seconds_later


@dataclass(slots=True)
class Stage:
    """A hand being played in a time that stands still, and the lines of its players."""

    service: Replica
    game: Game
    time: VirtualTime
    streams: dict[int, Any] = field(default_factory=dict)

    async def opens(self, seat: int) -> None:
        """Let a player open a stream, and wait until it is."""
        self.streams[seat] = self.game.clients[seat].watch(self.game.table_id, seconds=100)
        await self.streams[seat].read()

    async def loses(self, seat: int) -> None:
        """Let a player's line break, and wait until the service has noticed."""
        self.streams[seat].cancel()
        await self.until(lambda: not self.service.hub.has_stream(TableId(self.game.table_id), PlayerId(PLAYERS[seat])))

    async def recorded(self) -> list[Event]:
        """Return the lines recorded so far."""
        events = [decode(stored.type, stored.data) for stored in await self.game.events()]
        return [event for event in events if isinstance(event, ConnectionLost | ConnectionRestored)]

    async def records(self, *expected: Event) -> None:
        """Wait until exactly this is recorded."""

        async def as_expected() -> bool:
            return await self.recorded() == list(expected)

        await eventually(as_expected)

    async def records_nothing_more(self, *so_far: Event) -> None:
        """Wait until what is being reported has been, and check that nothing new is recorded."""
        await asyncio.gather(*tasks_of(self))
        assert await self.recorded() == list(so_far)

    async def in_turn(self) -> int:
        """Return the seat whose turn it is."""
        turn = (await self.game.hand()).turn
        assert turn is not None
        return turn

    async def comes_to(self, seconds: float) -> None:
        """Let time pass until so many seconds after the deadline; before it, if negative."""
        due = moment((await self.game.hand()).due_at)
        assert due is not None
        self.time.advance((due - EPOCH).total_seconds() + seconds - self.time.seconds)

    async def ruling(self) -> TrusteeshipEntered:
        """Wait for the first trusteeship, and return it."""

        async def entered() -> list[TrusteeshipEntered]:
            events = [decode(stored.type, stored.data) for stored in await self.game.events()]
            return [event for event in events if isinstance(event, TrusteeshipEntered)]

        return (await eventually(entered))[0]

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds."""

        async def look() -> bool:
            return holds()

        await eventually(look)


@asynccontextmanager
async def staged(time: VirtualTime) -> AsyncIterator[Stage]:
    """Give a hand with nobody watching yet."""
    log = MemoryLog(time.now)
    async with replica(log, Limits(), timing=Timing(lambda: time.seconds, time.call_later)) as service:
        yield Stage(service, await started(service), time)


def lost(seat: int, seconds: float) -> ConnectionLost:
    """Return the loss of a line at that moment."""
    return ConnectionLost(seat, PlayerId(PLAYERS[seat]), seconds_later(seconds))  # type: ignore[arg-type]


def back(seat: int, seconds: float) -> ConnectionRestored:
    """Return the return of a line at that moment."""
    return ConnectionRestored(seat, PlayerId(PLAYERS[seat]), seconds_later(seconds))  # type: ignore[arg-type]


def tasks_of(stage: Stage) -> list[Awaitable[None]]:
    """Return what is being reported."""
    return [task for task in asyncio.all_tasks() if task.get_name().startswith("line of")]
