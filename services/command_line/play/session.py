"""A person at a table: one loop takes what happens and what he types, in the order in which it comes."""

import asyncio
import time
from collections.abc import Collection, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Any, Final

from baohuang.client import Moment, RefusedError
from baohuang.rules.events import HandFinished, TrusteeshipEntered, TrusteeshipMadePermanent
from baohuang.rules.state import Hand, Table, TableId, TableStatus, in_progress
from command_line.bots.runner import hand_is_closed
from command_line.demo.story import Story
from command_line.play.card_words import UnreadableError
from command_line.play.choices import COMMANDS, choices
from command_line.play.company import SEAT, Company, Sought
from command_line.play.displays import Display, Scene, time_left
from command_line.play.holding import own_cards, question
from command_line.play.inbox import Inbox, InputEnded, Line
from command_line.play.outcome import settled
from command_line.play.requests import Help, Leave, Make, Nothing, Trustee, read

_YES: Final = frozenset({"y", "yes"})
_NO: Final = frozenset({"n", "no", "q", "quit"})
_LEAVING: Final = "leave the table 退出? The trustee plays on, without a fine (FINE-1); y or n"
_ANOTHER: Final = "another hand? y or n"
_TAKE_BACK: Final = "the trustee plays for you 托管 ({}): type t to take the seat back"
_PERMANENT: Final = "the trustee plays for you to the end of this hand ({})"


_CANCEL_AGAIN_SECONDS: Final = 0.2


class Ended(Enum):
    """How a hand ended for the person."""

    PLAYED = "played"
    LEFT = "left"


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a question is about: asked anew only when this changes."""

    hand: int
    deal: int
    turn_version: int


class Session:
    """One person's evening: hands at one table, or at the next when a table was dissolved (TRUST-4)."""

    def __init__(self, company: Company, inbox: Inbox, display: Display) -> None:
        self._company = company
        self._inbox = inbox
        self._display = display
        self._story = Story()
        self._moment: Moment | None = None
        self._deadline: float | None = None
        self._asked: _Asked | None = None
        self._notices: tuple[str, ...] = ()
        self._question = ""
        self._news: list[str] = []
        self._finished: HandFinished | None = None
        self._hands_before = 0

    async def play(self, sought: Sought) -> None:
        """Play hands until the person has enough. Raises ClientError."""
        table_id = await self._company.new_table(sought)
        while await self._one_hand(table_id) is Ended.PLAYED and await self._wants_another():
            before, table_id = table_id, await self._company.seat_again(table_id, sought)
            self._hands_before = self._table.hands_played if table_id == before else 0
        if self._moment and not in_progress(self._table) and self._table.status is TableStatus.OPEN:
            await self._company.stand_up(table_id)

    @property
    def _table(self) -> Table:
        if self._moment is None:
            raise ValueError("nothing was seen of the table yet")
        return self._moment.table

    async def _one_hand(self, table_id: TableId) -> Ended:
        try:
            async with asyncio.TaskGroup() as tasks:
                running: list[asyncio.Task[Any]] = [tasks.create_task(self._watch(table_id))]
                await self._company.start_hand(table_id)
                running += [tasks.create_task(bot.play_hand(table_id)) for bot in self._company.bots]
                ended = await self._until_over(table_id)
                await _stop(running)
        except ExceptionGroup as failed:
            # The first failure cancelled the others.
            raise failed.exceptions[0] from failed
        if ended is Ended.LEFT:
            await self._company.leave_hand(table_id)
        return ended

    async def _watch(self, table_id: TableId) -> None:
        async with aclosing(self._company.person.watch(table_id)) as moments:
            async for moment in moments:
                self._inbox.put(moment)

    async def _until_over(self, table_id: TableId) -> Ended:
        while True:
            match await self._next():
                case Moment() as moment:
                    self._see(moment)
                    if self._is_over():
                        self._tell_outcome()
                        return Ended.PLAYED
                case Line(text):
                    if await self._answered(table_id, text) is Ended.LEFT:
                        return Ended.LEFT
                case InputEnded():
                    await self._leave(table_id)
                    return Ended.LEFT
            self._show()

    async def _next(self) -> Moment | Line | InputEnded:
        """Return what comes next; the clock on the display goes on meanwhile."""
        return await self._inbox.get(self._display.refresh)

    def _is_over(self) -> bool:
        hand = self._table.hand
        return hand is not None and hand.number > self._hands_before and hand_is_closed(self._table)

    def _see(self, moment: Moment) -> None:
        self._moment = moment
        self._deadline = _deadline(moment)
        if moment.update is not None:
            event = moment.update.event
            self._news.append(self._story.note(event, moment.table))
            self._tell_own(event)
        self._ask_if_new()

    def _tell_own(self, event: object) -> None:
        """Tell what an event means to the person himself."""
        match event:
            case TrusteeshipEntered(seat=seat, rule=rule) if seat == SEAT:
                self._note(_TAKE_BACK.format(rule))
            case TrusteeshipMadePermanent(seat=seat, rule=rule) if seat == SEAT:
                self._note(_PERMANENT.format(rule))
            case HandFinished():
                self._finished = event

    def _ask_if_new(self) -> None:
        hand = self._table.hand
        asked = _Asked(hand.number, hand.deal, hand.turn_version) if hand and question(self._table, SEAT) else None
        if asked == self._asked:
            return
        self._asked = asked
        if asked is not None:
            self._notices = ()
            self._ask()
        else:
            self._question = ""

    def _ask(self) -> None:
        """Put the open question, if there is one."""
        self._question = question(self._table, SEAT)
        if self._question and self._table.hand:
            self._news += own_cards(self._table.hand, SEAT)
            self._news.append(f"{self._question} {time_left(self._deadline)} >")

    async def _answered(self, table_id: TableId, text: str) -> Ended | None:
        """Do what a line asks for; LEFT if that was to leave."""
        self._notices = ()
        hand = self._moment.table.hand if self._moment else None
        try:
            match read(text, hand, SEAT):
                case Nothing():
                    self._ask_again()
                case Help():
                    self._help()
                case Make(move):
                    await self._company.person.act(table_id, move)
                    self._question = ""
                case Trustee():
                    await self._change_trusteeship(table_id, hand)
                case Leave():
                    return await self._confirm_leaving(table_id)
        except UnreadableError as wrong:
            self._refuse(wrong.message, wrong.rule)
        except RefusedError as refused:
            self._refuse(refused.message, refused.rule)
        return None

    def _help(self) -> None:
        self._note(*(choices(self._table, SEAT) if self._moment else COMMANDS))
        self._ask_again()

    def _ask_again(self) -> None:
        if self._asked is not None:
            self._ask()

    def _refuse(self, message: str, rule: str) -> None:
        self._note(f"✗ {message} ({rule})" if rule else f"✗ {message}")
        self._ask_again()

    async def _change_trusteeship(self, table_id: TableId, hand: Hand | None) -> None:
        active = hand is None or not hand.trusteeships[SEAT].active
        await self._company.person.set_trusteeship(table_id, active=active)

    async def _confirm_leaving(self, table_id: TableId) -> Ended | None:
        """Ask whether to leave; the table goes on meanwhile."""
        if not await self._yes_or_no(_LEAVING):
            self._ask_again()
            return Ended.PLAYED if self._is_over() else None
        await self._leave(table_id)
        return Ended.LEFT

    async def _leave(self, table_id: TableId) -> None:
        try:
            await self._company.person.leave_table(table_id)
        except RefusedError as refused:
            self._refuse(refused.message, refused.rule)
        self._note("you have left the table")
        self._show()

    async def _wants_another(self) -> bool:
        return await self._yes_or_no(_ANOTHER)

    async def _yes_or_no(self, asked: str) -> bool:
        """Ask until there is an answer; the end of the input is a yes to leaving and a no to going on."""
        self._put(asked)
        while True:
            match await self._next():
                case Moment() as moment:
                    self._see(moment)
                    self._question = asked
                case Line(text) if text.strip().lower() in _YES | _NO:
                    self._question = ""
                    return text.strip().lower() in _YES
                case Line():
                    self._put(asked)
                case InputEnded():
                    self._inbox.put(InputEnded())
                    return False
            self._show()

    def _put(self, asked: str) -> None:
        self._question = asked
        self._news.append(f"{asked} >")
        self._show()

    def _tell_outcome(self) -> None:
        self._note(*settled(self._table, self._finished, SEAT))
        if self._table.status is TableStatus.DISSOLVED:
            self._note(
                "this table is dissolved, as a seat ended in trusteeship (TRUST-4): the next hand is at a new one"
            )
        self._deadline = None
        self._show()

    def _note(self, *lines: str) -> None:
        self._notices += lines
        self._news += lines

    def _show(self) -> None:
        hand = self._moment.table.hand if self._moment else None
        cards: Sequence[str] = own_cards(hand, SEAT) if hand and hand.result is None else ()
        self._display.show(
            Scene(
                table=self._moment.table if self._moment else None,
                said=self._story.said,
                lasts=self._story.lasts,
                cards=tuple(cards),
                notices=self._notices,
                question=self._question,
                deadline=self._deadline if self._asked else None,
                news=tuple(self._news),
            )
        )
        self._news.clear()


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


def _deadline(moment: Moment) -> float | None:
    """Return when the time of whoever has to act is up, by our monotonic clock; None if nobody has to act."""
    if moment.update is not None:
        millis = moment.update.millis_left
        return None if millis is None else time.monotonic() + millis / 1000
    due_at = moment.table.hand.due_at if moment.table.hand else ""
    if not due_at:
        return None
    # A snapshot gives the instant alone, and our clock may differ from the database's.
    return time.monotonic() + (datetime.fromisoformat(due_at) - datetime.now(UTC)).total_seconds()
