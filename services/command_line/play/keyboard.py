"""What is typed, line by line, from a terminal or a pipe, without ever blocking the event loop.

A terminal is taken out of its line mode, so that lines of others can appear above what is half typed.
"""

import asyncio
import codecs
import os
import re
import sys
import termios
import threading
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

_CHUNK: Final = 4096
_ESCAPES: Final = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|O.)?")
"""Arrows and other keys that type nothing."""
_ERASE: Final = "\x7f\b"
_KILL: Final = "\x15"
_END: Final = "\x04"


class LineEditor:
    """Makes lines of the bytes typed: backspace, Ctrl-U, and Ctrl-D on an empty line, which ends the input."""

    def __init__(self, on_line: Callable[[str], None], on_end: Callable[[], None]) -> None:
        self._on_line = on_line
        self._on_end = on_end
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self.typed = ""

    def feed(self, data: bytes) -> None:
        """Take what was typed; no bytes at all are the end, and a last line without a newline is a line."""
        for character in _ESCAPES.sub("", self._decoder.decode(data, final=not data)):
            self._take(character)
        if not data:
            if self.typed:
                self._take("\n")
            self._on_end()

    def _take(self, character: str) -> None:
        if character in "\r\n":
            line, self.typed = self.typed, ""
            self._on_line(line)
        elif character in _ERASE:
            self.typed = self.typed[:-1]
        elif character == _KILL:
            self.typed = ""
        elif character == _END and not self.typed:
            self._on_end()
        elif character.isprintable():
            self.typed += character


def read_in_background(feed: Callable[[bytes], None]) -> None:
    """Hand everything that comes on standard input to `feed`, in the running loop; b"" is the end of it.

    A thread, since a regular file cannot be waited for, and one that dies with the process, since a read cannot be
    called off. A standard input that was closed from the start is at its end.
    """
    if sys.stdin is None:
        feed(b"")
        return
    loop = asyncio.get_running_loop()
    threading.Thread(target=_read, args=(loop, feed), daemon=True, name="keyboard").start()


def _read(loop: asyncio.AbstractEventLoop, feed: Callable[[bytes], None]) -> None:
    data = b"-"
    while data:
        try:
            data = os.read(sys.stdin.fileno(), _CHUNK)
            loop.call_soon_threadsafe(feed, data)
        except OSError:  # the terminal is gone
            data = b""
            loop.call_soon_threadsafe(feed, data)
        except RuntimeError:  # the loop is closed: nobody listens any more
            return


@contextmanager
def unbuffered_terminal() -> Iterator[None]:
    """Get each key of the terminal at once, not echoed; its mode is restored at the end. Ctrl-C stays a signal."""
    number = sys.stdin.fileno()
    before = termios.tcgetattr(number)
    tty.setcbreak(number)
    try:
        yield
    finally:
        with suppress(termios.error):  # the terminal is gone
            termios.tcsetattr(number, termios.TCSADRAIN, before)
