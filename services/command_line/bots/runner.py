"""A bot at a table: it sits, gets ready, and acts whenever its watch says that it has to."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass

from baohuang.client import Moment, MoveRefusedError, Receipt, TableClient
from baohuang.eventlog.port import NO_VERSION, Version
from baohuang.rpc.reason import Reason
from baohuang.rules.commands import Move
from baohuang.rules.phases.asking import seats_to_act
from baohuang.rules.state import PlayerId, Table, TableId
from command_line.bots.errands import Errand, errand, hand_is_closed, may_take_back
from command_line.bots.policy import choose

_ALREADY_THERE = {Reason.ALREADY_SEATED, Reason.HAND_IN_PROGRESS}
"""What a bot hears that comes back to its seat, or whose hand has begun."""


@dataclass(frozen=True, slots=True)
class Bot:
    """A player for one seat. `think_seconds` is how long it waits before each move."""

    client: TableClient
    seat: int
    policy: Callable[[Table, int], Move] = choose
    think_seconds: float = 0.0

    async def take_place(self, table_id: TableId, entropy: str = "") -> None:
        """Sit down and get ready with this entropy; harmless for a bot that comes back. Raises ClientError."""
        await _unless_already_there(self.client.sit_down(table_id, self.seat))
        await _unless_already_there(self.client.set_ready(table_id, ready=True, entropy=entropy))

    async def play_hand(self, table_id: TableId) -> Moment:
        """Play one hand to its end, from wherever it stands, and return the table once it is closed.

        A bot never asks for the trustee: if it has one its time ran out, and it takes its seat back while it may
        (TRUST-3). Raises ClientError.
        """
        past = NO_VERSION
        async with aclosing(self.client.watch(table_id)) as moments:
            async for moment in moments:
                if hand_is_closed(moment.table):
                    return moment
                if moment.version >= past and may_take_back(moment.table, self.seat):
                    past = await self._take_back(table_id, past)
                elif self.seat in moment.to_act and moment.version >= past:
                    past = await self._act(table_id, moment.version, moment.table)
        raise AssertionError("a watch has no end of its own")

    async def stay(self, table_id: TableId, player: PlayerId) -> None:
        """Play hand after hand on the seat that the bot was given as this player, for as long as people sit there too.

        It may come at any time, and come back at any time: what is to be done follows from the table alone.
        Raises ClientError.
        """
        past = NO_VERSION
        async with aclosing(self.client.watch(table_id)) as moments:
            async for moment in moments:
                if moment.version < past or moment.posted is not None:
                    continue
                match errand(moment.table, self.seat, player):
                    case Errand.MOVE:
                        past = await self._act(table_id, moment.version, moment.table)
                    case Errand.TAKE_BACK:
                        past = await self._take_back(table_id, past)
                    case Errand.GET_READY:
                        past = await _past_unless_refused(self.client.set_ready(table_id, ready=True), past)
                    case Errand.STAND_UP:
                        past = await _past_unless_refused(self.client.stand_up(table_id), past)
                    case Errand.GO:
                        return
                    case Errand.WAIT:
                        pass

    async def _take_back(self, table_id: TableId, past: Version) -> Version:
        """Take the seat back from the trustee and return the version before which all is past.

        A refusal comes of an old view: the hand is over, or somebody else took the seat back.
        """
        return await _past_unless_refused(self.client.set_trusteeship(table_id, active=False), past)

    async def _act(self, table_id: TableId, version: Version, table: Table) -> Version:
        """Make a move at a version of the table and return the version before which all is past.

        A refused move comes of an old view (somebody else acted for the seat): look again, and act if still asked. A
        move refused by the newest view is the policy's fault, and raised.
        """
        await asyncio.sleep(self.think_seconds)
        while True:
            try:
                return (await self.client.act(table_id, self.policy(table, self.seat))).version
            except MoveRefusedError:
                view = await self.client.get_table(table_id)
                if view.version <= version:
                    raise
            version, table = view.version, view.table
            if table.hand is None or self.seat not in seats_to_act(table.hand):
                return version


async def _unless_already_there(call: Awaitable[Receipt]) -> None:
    try:
        await call
    except MoveRefusedError as refused:
        if refused.reason not in _ALREADY_THERE:
            raise


async def _past_unless_refused(call: Awaitable[Receipt], past: Version) -> Version:
    """Return the version before which all is past; a refusal, which comes of an old view, changes nothing."""
    try:
        return (await call).version
    except MoveRefusedError:
        return past
