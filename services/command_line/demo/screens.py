"""Where the hand is shown as it is played: a board that is drawn again on a terminal, or a line an event elsewhere."""

from types import TracebackType
from typing import Protocol, Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from baohuang.client import Moment
from command_line.demo.board import board
from command_line.demo.story import Story
from command_line.demo.telling import tell

_FRAMES_A_SECOND = 12


class Screen(Protocol):
    """Shows what a spectator sees."""

    def __enter__(self) -> Self:
        """Begin."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Leave the last picture standing."""

    def show(self, moment: Moment) -> None:
        """Show the table after one more event."""


class LiveScreen:
    """A board on a terminal, drawn a dozen times a second at most, however fast the hand goes."""

    def __init__(self, console: Console) -> None:
        self._live = Live(console=console, refresh_per_second=_FRAMES_A_SECOND, vertical_overflow="visible")
        self._story = Story()

    def __enter__(self) -> Self:
        """Begin to draw."""
        self._live.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Leave the last board standing."""
        self._live.__exit__(kind, error, at)

    def show(self, moment: Moment) -> None:
        """Take the table and the line of its event into the next frame."""
        if moment.update is not None:
            self._story.note(moment.update.event, moment.table)
        self._live.update(board(moment.table, self._story.said, self._story.lasts))


class LineScreen:
    """One line an event, for pipes and files."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def __enter__(self) -> Self:
        """Nothing to begin."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Nothing to end."""

    def show(self, moment: Moment) -> None:
        """Print the event's line."""
        if moment.update is not None:
            self._console.print(Text(tell(moment.update.event, moment.table)), soft_wrap=True)


def screen_for(console: Console) -> Screen:
    """Return a board for a terminal, lines for everything else."""
    return LiveScreen(console) if console.is_terminal else LineScreen(console)
