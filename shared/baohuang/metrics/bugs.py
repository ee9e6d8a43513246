"""Bugs that nobody is answered with: of what works by itself, beside the calls."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Final

import structlog

from baohuang.metrics.family import Family, Kind, Reading

BUGS: Final = Family(
    "baohuang_bugs_total",
    Kind.COUNTER,
    "Bugs that were met beside calls, by the part that met them; it goes on, or begins again.",
    ("part",),
)
_AGAIN_SECONDS: Final = 1.0
_log = structlog.get_logger("baohuang.metrics")


class Bugs:
    """Counts them by part, and logs each. A part that was said to be there is told before it meets one."""

    def __init__(self) -> None:
        self._met: Final[Counter[str]] = Counter()

    def expect(self, part: str) -> None:
        """Tell this part from now on: growth from nothing at all is not seen."""
        self._met[part] += 0

    def met(self, part: str, bug: BaseException, **about: object) -> None:
        """Count one, and log it with its traceback and what else is known about it."""
        self._met[part] += 1
        _log.error("met a bug", part=part, **about, exc_info=bug)

    def of_tasks(self, part: str) -> "Callable[[asyncio.Task[None]], None]":
        """Return what is to be told of the end of a part's tasks: one that raised met a bug."""
        self.expect(part)
        return partial(self._ended, part)

    def _ended(self, part: str, task: "asyncio.Task[None]") -> None:
        if not task.cancelled() and (bug := task.exception()) is not None:
            self.met(part, bug, task=task.get_name())

    async def begun_again(self, part: str, run: Callable[[], Awaitable[None]]) -> None:
        """Run a part to its end, and anew, after a moment, whenever a bug ends it."""
        while True:
            try:
                return await run()
            except Exception as bug:  # noqa: BLE001 - a service that lives has to do its work, whatever a bug did to it
                self.met(part, bug)
            await asyncio.sleep(_AGAIN_SECONDS)

    def read(self) -> Iterator[Reading]:
        """Read the counts."""
        yield Reading(BUGS, {(part,): number for part, number in self._met.copy().items()})
