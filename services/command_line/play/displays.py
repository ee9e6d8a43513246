"""Where a person sees the table: a picture that is drawn again on a terminal, or lines in a pipe."""

import time
from dataclasses import dataclass
from io import StringIO
from typing import Final, Protocol

from rich.console import Console, Group

from baohuang.rules.state import Table
from command_line.demo.board import board
from command_line.saying import shown

_HOME: Final = "\x1b[H"
_CLEAR_LINE: Final = "\x1b[K"
_CLEAR_BELOW: Final = "\x1b[J"
_CLEAR_ALL: Final = "\x1b[2J"
_LEAVE_FREE: Final = 1
"""Rows for the prompt."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What there is to see. `news` is what was not shown before; the rest is the whole picture.

    `deadline` is when the person's time is up, by the clock of `time.monotonic`; None where no clock runs for him.
    """

    table: Table | None = None
    said: tuple[str, ...] = ()
    lasts: tuple[str, ...] = ()
    cards: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    question: str = ""
    deadline: float | None = None
    news: tuple[str, ...] = ()


class Display(Protocol):
    """Shows scenes."""

    def show(self, scene: Scene) -> None:
        """Show what has become of the table."""

    def refresh(self, typed: str) -> None:
        """Show what is half typed, and the time that is left."""


class LineDisplay:
    """Lines, for pipes: each thing once, when it is new."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def show(self, scene: Scene) -> None:
        """Print what is new."""
        for line in scene.news:
            self._console.print(shown(line), soft_wrap=True)

    def refresh(self, typed: str) -> None:
        """Nothing: a pipe keeps what it was given."""


class PictureDisplay:
    """The board, the person's cards and what he types, drawn again over the last picture."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._scene = Scene()
        self._typed = ""
        self._write(_CLEAR_ALL)

    def show(self, scene: Scene) -> None:
        """Draw the whole picture."""
        self._scene = scene
        rows = self._rows(scene)[: self._console.height - _LEAVE_FREE]
        self._write(_HOME + "".join(f"{row}{_CLEAR_LINE}\n" for row in rows) + self._prompt() + _CLEAR_BELOW)

    def refresh(self, typed: str) -> None:
        """Draw the prompt's line."""
        self._typed = typed
        self._write(f"\r{self._prompt()}{_CLEAR_LINE}")

    def _rows(self, scene: Scene) -> list[str]:
        page = Console(
            file=StringIO(), width=self._console.width, force_terminal=True, color_system="standard", highlight=False
        )
        if scene.table:
            page.print(board(scene.table, scene.said, scene.lasts))
        page.print(Group(*(shown(line, "bold cyan") for line in scene.cards)))
        page.print(Group(*(shown(line) for line in scene.notices)))
        file = page.file
        return file.getvalue().splitlines() if isinstance(file, StringIO) else []

    def _prompt(self) -> str:
        left = time_left(self._scene.deadline)
        asked = " ".join(part for part in (self._scene.question, left) if part) or "wait"
        return f"{asked} > {self._typed}"

    def _write(self, text: str) -> None:
        self._console.file.write(text)
        self._console.file.flush()


def time_left(deadline: float | None) -> str:
    """Return the whole seconds until the deadline, in words; "" if there is none."""
    return "" if deadline is None else f"({max(0, round(deadline - time.monotonic()))} s left, h = help)"
