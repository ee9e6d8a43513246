"""`baohuang play` as a user runs it over a pipe: a line in, lines out."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

_SECONDS = 60.0
_LISTED = re.compile(r"you may play: (.*?)(?: \| … and \d+ more)?")
_CHOICE = re.compile(r"(\w) = .*")
_RETURN = re.compile(r"r and .* e\.g\. (r .*)")
_CALL = re.compile(r"c and a card = .*: (c \w+)")


@dataclass(slots=True)
class Player:
    """A running `baohuang play`; `printed` are the lines read so far."""

    process: asyncio.subprocess.Process
    printed: list[str] = field(default_factory=list)

    async def type(self, line: str) -> None:
        """Send one line."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n".encode())
        await self.process.stdin.drain()

    async def line(self) -> str:
        """Read the next line; "" at the end."""
        assert self.process.stdout is not None
        read = await asyncio.wait_for(self.process.stdout.readline(), _SECONDS)
        self.printed.append(read.decode().rstrip("\n"))
        return read.decode()

    async def until(self, text: str) -> list[str]:
        """Read up to a line that has the text, and return all these lines. Fails if the process ends before."""
        first = len(self.printed)
        while text not in (line := await self.line()):
            assert line, "\n".join(self.printed)
        return self.printed[first:]

    async def answer(self, line: str) -> list[str]:
        """Send a line and read up to the next question."""
        await self.type(line)
        return await self.until(" >")

    async def end(self) -> tuple[int, list[str], str]:
        """Close the input, read the rest, and give exit code, rest and standard error."""
        first = len(self.printed)
        assert self.process.stdin is not None
        assert self.process.stderr is not None
        self.process.stdin.close()
        while await self.line():
            pass
        complaint = (await asyncio.wait_for(self.process.stderr.read(), _SECONDS)).decode()
        return await self.process.wait(), self.printed[first:-1], complaint


@asynccontextmanager
async def player(folder: Path, *options: str) -> AsyncIterator[Player]:
    """Start it with `folder` for its temporary files; ended at exit if it has not ended by then."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("BAOHUANG_")}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "command_line", "play", *options),
        env={**kept, "TMPDIR": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield Player(process)
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
            await process.communicate()


def first_choice(shown: list[str]) -> str:
    """Return what to type by what the help says: a play if one is listed, else the last of the words."""
    words = []
    for line in shown:
        if listed := _LISTED.fullmatch(line):
            return str(listed[1]).split(" | ")[0]
        if example := _RETURN.fullmatch(line) or _CALL.match(line):
            return str(example[1])
        words += [choice[1] for choice in [_CHOICE.match(line)] if choice]
    assert words, shown
    return words[-1]
