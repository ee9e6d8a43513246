"""Workers end with their block."""

import asyncio
from collections.abc import Mapping
from typing import Any

from baohuang.metrics.bugs import Bugs
from baohuang.stream.working import at_work
from eventually import eventually


class Stubborn:
    """Does not hear that it is cancelled the first time."""

    def __init__(self) -> None:
        self.deaf = True
        self.ended = False

    async def run(self) -> None:
        """Run until cancelled for the second time."""
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if not self.deaf:
                    self.ended = True
                    raise
                self.deaf = False


class Broken:
    """Meets a bug the first time."""

    def __init__(self) -> None:
        self.runs = 0

    async def run(self) -> None:
        """Fail, and then work."""
        self.runs += 1
        if self.runs == 1:
            raise ZeroDivisionError
        await asyncio.Event().wait()


def numbers(bugs: Bugs) -> Mapping[Any, object]:
    """Return how many each part has met."""
    (reading,) = bugs.read()
    return reading.values


async def test_a_worker_that_misses_its_cancelling_ends_all_the_same() -> None:
    """Python 3.11's `wait_for` and the NATS client both swallow a cancellation at times: it is cancelled again."""
    worker = Stubborn()
    async with asyncio.timeout(5):
        async with at_work(worker):
            await asyncio.sleep(0)
        assert worker.ended


async def test_a_broken_worker_begins_again_and_leaves_the_others_be() -> None:
    """Its failure is its own, and not for ever; it is counted, from nothing."""
    broken, other, bugs = Broken(), Stubborn(), Bugs()

    async def ran() -> bool:
        return broken.runs > 1

    async with at_work(broken, other, bugs=bugs):
        assert numbers(bugs) == {("Broken",): 0, ("Stubborn",): 0}
        await eventually(ran)
        assert numbers(bugs) == {("Broken",): 1, ("Stubborn",): 0}
        assert not other.ended
    assert other.ended
