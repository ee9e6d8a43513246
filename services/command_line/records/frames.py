"""A hand as pictures: one for each event, each with the board, the last lines, and the cards that the viewer sees."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec
from rich.console import Group, RenderableType
from rich.text import Text

from baohuang.eventlog.codec import encode
from baohuang.handrecord import HandRecord, Step, Variant, as_seen_by, replay
from baohuang.rules.cards import HIDDEN
from baohuang.rules.events import is_ruling
from baohuang.rules.state import ALL_SEATS, Table
from command_line.demo.board import board
from command_line.demo.story import Story
from command_line.demo.words import called
from command_line.play.holding import grouped

VIEWS: Final = ("all", "public", *map(str, ALL_SEATS))
"""Who may be looking on: somebody who sees all that is recorded, the public, or a seat."""
_TIME: Final = slice(11, 23)


@dataclass(frozen=True, slots=True)
class Frame:
    """One event of the hand, and what a board shows after it."""

    step: Step
    said: tuple[str, ...]
    lasts: tuple[str, ...]

    @property
    def version(self) -> int:
        """The event's version in its table's stream."""
        return self.step.recorded.version

    @property
    def is_ruling(self) -> bool:
        """Whether the event is a ruling."""
        return is_ruling(self.step.recorded.event)


def frames_of(record: HandRecord, view: str) -> Sequence[Frame]:
    """Return the hand's frames in one of the VIEWS. Raises ValueError for a seat's view of a public record."""
    story = Story()
    frames = []
    for step in _seen(record, view):
        story.note(step.recorded.event, step.table)
        frames.append(Frame(step, story.said, story.lasts))
    return frames


def _seen(record: HandRecord, view: str) -> Sequence[Step]:
    steps = replay(record)
    if view == "all":
        return steps
    if view == "public":
        return as_seen_by(None, steps)
    if record.variant is Variant.PUBLIC:
        raise ValueError("a public record does not hold what a seat saw")
    return as_seen_by(int(view), steps)


def line(frame: Frame) -> str:
    """Return the event in one line: version, time of day (UTC), `§` before a ruling, what happened."""
    mark = "§" if frame.is_ruling else " "
    return f"{frame.version:>5}  {frame.step.recorded.at[_TIME]}  {mark} {frame.said[-1]}"


def document(frame: Frame) -> bytes:
    """Return the event as one JSON object: as in a hand's record, with whether it is a ruling, and what happened."""
    recorded = frame.step.recorded
    name, data = encode(recorded.event)
    place = {"version": recorded.version, "at": recorded.at, "type": name, "ruling": frame.is_ruling}
    return msgspec.json.encode({**place, "told": frame.said[-1], "data": msgspec.Raw(data)})


def picture(frame: Frame) -> RenderableType:
    """Return the board after the event, and the cards that the viewer sees."""
    table = frame.step.table
    return Group(board(table, frame.said, frame.lasts), *_cards(table), Text(line(frame), no_wrap=True))


def _cards(table: Table) -> Sequence[Text]:
    """Return a line for each hand that is open to the viewer."""
    hands = table.hand.hands if table.hand else ()
    return [
        Text(f"  {called(table, seat)}: {grouped(cards)}", style="cyan", no_wrap=True)
        for seat, cards in enumerate(hands)
        if cards and HIDDEN not in cards
    ]
