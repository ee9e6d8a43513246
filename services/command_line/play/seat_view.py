"""What the person sees of a hand from his seat, and what he is asked: state of the display, without any call."""

import time
from dataclasses import dataclass, replace
from typing import Final

from baohuang.client import Moment
from baohuang.rules.events import HandFinished, TrusteeshipEntered, TrusteeshipMadePermanent
from baohuang.rules.state import Hand, Table, TableStatus, in_progress
from command_line.bots.errands import hand_is_closed
from command_line.demo.story import Story
from command_line.play.choices import COMMANDS, choices
from command_line.play.company import Place
from command_line.play.displays import Scene, time_left
from command_line.play.holding import own_cards, question
from command_line.play.outcome import booked, settled
from command_line.play.requests import NO_HAND

_TAKE_BACK: Final = "the trustee plays for you 托管 ({}): type t to take the seat back"
_PERMANENT: Final = "the trustee plays for you to the end of this hand ({})"
_DISSOLVED: Final = "this table is dissolved, as a seat ended in trusteeship (TRUST-4): the next hand is at a new one"


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a question is about: asked anew only when this changes."""

    hand: int
    deal: int
    turn_version: int


class SeatView:
    """One hand as the person sees it; `story` goes on from hand to hand."""

    def __init__(self, place: Place, story: Story) -> None:
        self._place = place
        self._seat = place.seat
        self._story = story
        self._moment: Moment | None = None
        self._deadline: float | None = None
        self._asked: _Asked | None = None
        self._notices: tuple[str, ...] = ()
        self._question = ""
        self._news: list[str] = []
        self._finished: HandFinished | None = None

    @property
    def table(self) -> Table | None:
        """The table as it was seen last; None before it was."""
        return self._moment.table if self._moment else None

    @property
    def hand(self) -> Hand | None:
        """The hand that is being played; None before it is seen and when it is over."""
        return self.table.hand if self.table and in_progress(self.table) else None

    def is_over(self) -> bool:
        """Tell whether the hand is over and settled."""
        if self.table is None or self.table.hand is None or self.table.hand.number <= self._place.hands_before:
            return False
        return hand_is_closed(self.table)

    def place_after(self) -> Place:
        """Return the person's place for the hand after this one at the same table."""
        hand = self.table.hand if self.table else None
        return replace(self._place, hands_before=hand.number) if hand else self._place

    def see(self, moment: Moment) -> None:
        """Take in what has become of the table, or what was told beside it."""
        if moment.posted is not None:
            self.note(booked(moment.posted, self._seat))
            return
        self._moment = moment
        self._deadline = _deadline(moment)
        if moment.update is not None:
            event = moment.update.event
            self._news.append(self._story.note(event, moment.table))
            self._tell_own(event)
        self._ask_if_new(moment)

    def note(self, *lines: str) -> None:
        """Tell something beside the table's own story; it stays until the next question or line."""
        self._notices += lines
        self._news += lines

    def forget_notes(self) -> None:
        """Clear what was noted: the person typed something."""
        self._notices = ()

    def help(self) -> None:
        """Tell what is possible now."""
        self.note(*(choices(self.table, self._seat) if self.table else (NO_HAND, *COMMANDS)))
        self.ask_again()

    def refuse(self, message: str, rule: str) -> None:
        """Tell that something does not go, by which clause, and put the question again."""
        self.note(f"✗ {message} ({rule})" if rule else f"✗ {message}")
        self.ask_again()

    def ask_again(self) -> None:
        """Put the open question again, if there is one."""
        if self._asked is not None:
            self._ask()

    def answered(self) -> None:
        """Take the question away: its answer was accepted."""
        self._question = ""

    def put(self, asked: str) -> None:
        """Put a question of the command itself, in place of the table's."""
        self._question = asked
        self._news.append(f"{asked} >")

    def hold(self, asked: str) -> None:
        """Keep the command's own question, whatever the table has asked meanwhile."""
        self._question = asked

    def tell_outcome(self) -> None:
        """Tell the settlement."""
        if self.table is not None:
            self.note(*settled(self.table, self._finished, self._seat))
            if self.table.status is TableStatus.DISSOLVED:
                self.note(_DISSOLVED)
        self._deadline = None

    def scene(self) -> Scene:
        """Return what there is to see; its news count as shown then."""
        news, self._news = tuple(self._news), []
        return Scene(
            table=self.table,
            said=self._story.said,
            lasts=self._story.lasts,
            cards=tuple(own_cards(self.hand, self._seat)) if self.hand else (),
            notices=self._notices,
            question=self._question,
            deadline=self._deadline if self._asked else None,
            news=news,
        )

    def _tell_own(self, event: object) -> None:
        """Tell what an event means to the person himself."""
        match event:
            case TrusteeshipEntered(seat=seat, rule=rule) if seat == self._seat:
                self.note(_TAKE_BACK.format(rule))
            case TrusteeshipMadePermanent(seat=seat, rule=rule) if seat == self._seat:
                self.note(_PERMANENT.format(rule))
            case HandFinished():
                self._finished = event

    def _ask_if_new(self, moment: Moment) -> None:
        hand, asked = self.hand, question(moment.table, self._seat)
        about = _Asked(hand.number, hand.deal, hand.turn_version) if hand and asked else None
        if about == self._asked:
            return
        self._asked = about
        if about is None:
            self._question = ""
            return
        if moment.update is not None:  # what was noted before the first view of the table is still to be read
            self._notices = ()
        self._ask()

    def _ask(self) -> None:
        """Put the open question, if there is one."""
        self._question = question(self.table, self._seat) if self.table else ""
        if self._question and self.hand:
            self._news += own_cards(self.hand, self._seat)
            self._news.append(f"{self._question} {time_left(self._deadline)} >")


def _deadline(moment: Moment) -> float | None:
    """Return when the time of whoever has to act is up, by our monotonic clock; None if no clock runs."""
    return None if moment.millis_left is None else time.monotonic() + moment.millis_left / 1000
