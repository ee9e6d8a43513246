"""What a board tells beside the table itself: the last lines, and the last play of each seat in this trick."""

from collections import deque

from baohuang.rules.deal import SEATS
from baohuang.rules.events import CardsPlayed, Event, HandStarted, Passed
from baohuang.rules.state import Table
from command_line.demo.board import LINES
from command_line.demo.telling import tell
from command_line.demo.words import faces


class Story:
    """Grows by an event at a time and forgets what is no longer shown."""

    def __init__(self) -> None:
        self._said: deque[str] = deque(maxlen=LINES)
        self._lasts = [""] * SEATS

    @property
    def said(self) -> tuple[str, ...]:
        """The last lines, oldest first."""
        return tuple(self._said)

    @property
    def lasts(self) -> tuple[str, ...]:
        """The last play of each seat in this trick; empty text where there is none."""
        return tuple(self._lasts)

    def note(self, event: Event, table: Table) -> str:
        """Take an event in, `table` being the table after it, and return its line."""
        line = tell(event, table)
        self._said.append(line)
        self._note_last(event)
        return line

    def _note_last(self, event: Event) -> None:
        match event:
            case HandStarted():
                self._lasts = [""] * SEATS
            case CardsPlayed():
                self._lasts[event.seat] = faces(event.cards)
            case Passed():
                self._lasts[event.seat] = "pass"
                if event.trick_over:
                    self._lasts = [""] * SEATS
