"""A person at a table: one loop takes what happens and what he types, in the order in which it comes."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from contextlib import aclosing
from enum import Enum
from functools import partial
from typing import Any, Final

from baohuang.client import Moment, MoveRefusedError, RefusedError
from baohuang.rpc.reason import Reason
from baohuang.rules.state import TableId, TableStatus, in_progress
from command_line.demo.story import Story
from command_line.play.card_words import UnreadableError
from command_line.play.company import Company, Place, Sought
from command_line.play.displays import Display
from command_line.play.inbox import Inbox, InputEnded, Line
from command_line.play.requests import Help, Leave, Make, Nothing, Trustee, read
from command_line.play.seat_view import SeatView

_YES: Final = frozenset({"y", "yes"})
_NO: Final = frozenset({"n", "no", "q", "quit"})
_LEAVING: Final = "leave the table 退出? The trustee plays on, without a fine (FINE-1); y or n"
_ANOTHER: Final = "another hand? y or n"
_BACK: Final = "you are in a hand already, at table {}: it goes on here"
_CANCEL_AGAIN_SECONDS: Final = 0.2

Begin = Callable[[Place], Awaitable[None]]
"""Brings the person into a hand, which he watches already."""


class Ended(Enum):
    """How a hand ended for the person."""

    PLAYED = "played"
    LEFT = "left"


class Session:
    """One person's evening: hands at one table, or at the next when a table was dissolved (TRUST-4).

    It begins with the hand that he is in, if he is in one: his terminal died, or he left it.
    """

    def __init__(self, company: Company, inbox: Inbox, display: Display) -> None:
        self._company = company
        self._inbox = inbox
        self._display = display
        self._story = Story()
        self._view: SeatView

    async def play(self, sought: Sought) -> None:
        """Play hands until the person has enough. Raises ClientError."""
        place, begin = await self._place(partial(self._company.new_place, sought))
        while await self._one_hand(place, begin):
            place, begin = await self._place(partial(self._company.seat_again, self._view.place_after(), sought))
        table = self._view.table
        if table and not in_progress(table) and table.status is TableStatus.OPEN:
            await self._company.stand_up(place)

    async def _place(self, seat: Callable[[], Awaitable[Place]]) -> tuple[Place, Begin]:
        """Return where the person plays: in the hand that he is in, else where `seat` seats him (FINE-6)."""
        if place := await self._company.left_behind():
            return place, self._go_on
        try:
            return await seat(), self._company.start_hand
        except MoveRefusedError as refused:
            if refused.reason != Reason.IN_ANOTHER_HAND:
                raise
            # It began after he had been looked for.
            place = await self._company.in_hand_at(TableId(refused.metadata["table_id"]))
            if place is None:
                raise
            return place, self._go_on

    async def _go_on(self, place: Place) -> None:
        self._view.note(_BACK.format(place.table_id))
        self._show()
        await self._company.take_seat_back(place)

    async def _one_hand(self, place: Place, begin: Begin) -> bool:
        """Play a hand, and tell whether the person wants another; he watches on until he has said."""
        self._view = SeatView(place, self._story)
        try:
            async with asyncio.TaskGroup() as tasks:
                running: list[asyncio.Task[Any]] = [tasks.create_task(self._watch(place))]
                await begin(place)
                running += [tasks.create_task(bot.play_hand(place.table_id)) for bot in place.bots]
                ended = await self._until_over(place)
                again = ended is Ended.PLAYED and await self._wants_another()
                await _stop(running)
        except ExceptionGroup as failed:
            # The first failure cancelled the others.
            raise failed.exceptions[0] from failed
        if ended is Ended.LEFT:
            await self._company.leave_hand(place)
        return again

    async def _watch(self, place: Place) -> None:
        async with aclosing(self._company.person.watch(place.table_id)) as moments:
            async for moment in moments:
                self._inbox.put(moment)

    async def _until_over(self, place: Place) -> Ended:
        while True:
            match await self._next():
                case Moment() as moment:
                    self._view.see(moment)
                    if self._view.is_over():
                        self._tell_outcome()
                        return Ended.PLAYED
                case Line(text):
                    if ended := await self._answered(place, text):
                        return ended
                case InputEnded():
                    await self._leave(place)
                    return Ended.LEFT
            self._show()

    async def _next(self) -> Moment | Line | InputEnded:
        """Return what comes next; the clock on the display goes on meanwhile."""
        return await self._inbox.get(self._display.refresh)

    async def _answered(self, place: Place, text: str) -> Ended | None:
        """Do what a line asks for; how the hand ended if it did over that."""
        self._view.forget_notes()
        try:
            match read(text, self._view.hand, place.seat):
                case Nothing():
                    self._view.ask_again()
                case Help():
                    self._view.help()
                case Make(move):
                    await self._company.person.act(place.table_id, move)
                    self._view.answered()
                case Trustee(active):
                    await self._company.person.set_trusteeship(place.table_id, active=active)
                case Leave():
                    return await self._confirm_leaving(place)
        except UnreadableError as wrong:
            self._view.refuse(wrong.message, wrong.rule)
        except RefusedError as refused:
            self._view.refuse(refused.message, refused.rule)
        return None

    async def _confirm_leaving(self, place: Place) -> Ended | None:
        """Ask whether to leave; the table goes on meanwhile, and the hand may be over by the answer."""
        leaves = await self._yes_or_no(_LEAVING, at_end=True)
        if self._view.is_over():
            self._tell_outcome()
            return Ended.LEFT if leaves else Ended.PLAYED
        if leaves:
            await self._leave(place)
            return Ended.LEFT
        self._view.ask_again()
        return None

    async def _leave(self, place: Place) -> None:
        try:
            await self._company.person.leave_table(place.table_id)
        except RefusedError as refused:
            self._view.refuse(refused.message, refused.rule)
        self._view.note("you have left the table")
        self._show()

    async def _wants_another(self) -> bool:
        return await self._yes_or_no(_ANOTHER, at_end=False)

    async def _yes_or_no(self, asked: str, *, at_end: bool) -> bool:
        """Ask until there is an answer; `at_end` is what the end of the input means."""
        self._put(asked)
        while True:
            match await self._next():
                case Moment() as moment:
                    self._view.see(moment)
                    self._view.hold(asked)
                case Line(text) if text.strip().lower() in _YES | _NO:
                    self._view.answered()
                    return text.strip().lower() in _YES
                case Line():
                    self._put(asked)
                case InputEnded():
                    self._view.answered()
                    return at_end
            self._show()

    def _put(self, asked: str) -> None:
        self._view.put(asked)
        self._show()

    def _tell_outcome(self) -> None:
        self._view.tell_outcome()
        self._show()

    def _show(self) -> None:
        self._display.show(self._view.scene())


async def _stop(running: Collection[asyncio.Task[Any]]) -> None:
    """Cancel the tasks and wait for their end.

    Again and again: in Python 3.11 `asyncio.wait_for`, which a watch waits in, swallows a cancellation that comes
    together with what was waited for.
    """
    pending = set(running)
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=_CANCEL_AGAIN_SECONDS)
