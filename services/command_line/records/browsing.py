"""Going through a hand by keys. Pure: where one is, and what each key does."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from command_line.records.frames import Frame

HELP: Final = "→ ← step · Home End · n p next, previous ruling · g123⏎ version · 0-4 seat · u public · a all · q quit"
_KEY: Final = re.compile(r"\x1b(?:\[[0-9;]*[A-Za-z~]|O[A-Za-z])?|.", re.DOTALL)
_NAMED: Final = {
    "\x1b[C": "forward", "\x1bOC": "forward", " ": "forward", "l": "forward",
    "\x1b[D": "back", "\x1bOD": "back", "h": "back", "\x7f": "back",
    "\x1b[H": "first", "\x1bOH": "first", "\x1b[1~": "first",
    "\x1b[F": "last", "\x1bOF": "last", "\x1b[4~": "last",
    "n": "next ruling", "p": "previous ruling", "g": "go", "q": "quit", "\x04": "quit", "a": "all", "u": "public",
    "\r": "enter", "\n": "enter",
}  # fmt: skip


def keys_in(typed: bytes) -> Iterator[str]:
    """Yield what was typed, key by key: a name of what the key does, or its character."""
    for match in _KEY.finditer(typed.decode(errors="replace")):
        yield _NAMED.get(match[0], match[0])


class Browser:
    """Where one is in a hand. `view` is whose view is asked for, `goto` the digits of a version being typed.

    `said` is what there is to say of the last key.
    """

    def __init__(self, frames: Sequence[Frame], view: str, index: int = 0) -> None:
        self.frames = frames
        self.view = view
        self.index = index
        self.goto: str | None = None
        self.said = ""
        self.has_quit = False

    @property
    def frame(self) -> Frame:
        """What is looked at."""
        return self.frames[self.index]

    def press(self, key: str) -> None:  # noqa: C901 - one line a key
        """Do what the key says; one that says nothing here does nothing."""
        self.said = ""
        if self.goto is not None:
            self._type(key)
            return
        match key:
            case "forward":
                self._move(self.index + 1)
            case "back":
                self._move(self.index - 1)
            case "first":
                self._move(0)
            case "last":
                self._move(len(self.frames) - 1)
            case "next ruling":
                self.index = next((place for place in self._rulings() if place > self.index), self.index)
            case "previous ruling":
                self.index = next((place for place in reversed(self._rulings()) if place < self.index), self.index)
            case "go":
                self.goto = ""
            case "quit":
                self.has_quit = True
            case "all" | "public" | "0" | "1" | "2" | "3" | "4":
                self.view = key

    def _type(self, key: str) -> None:
        if key == "enter" and self.goto:
            self._go(int(self.goto))
        if key.isascii() and key.isdigit() and self.goto is not None and len(self.goto) < _MOST_DIGITS:
            self.goto += key
        else:
            self.goto = None

    def _go(self, version: int) -> None:
        first, last = self.frames[0].version, self.frames[-1].version
        if first <= version <= last:
            self._move(version - first)
        else:
            self.said = f"the hand has versions {first} to {last}"

    def _move(self, index: int) -> None:
        self.index = min(max(index, 0), len(self.frames) - 1)

    def _rulings(self) -> Sequence[int]:
        return rulings_in(self.frames)


_MOST_DIGITS: Final = 9


def rulings_in(frames: Sequence[Frame]) -> Sequence[int]:
    """Return the places of the rulings among the frames."""
    return [place for place, frame in enumerate(frames) if frame.is_ruling]
