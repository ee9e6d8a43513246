"""Who is killed when: moments of play nobody chose, told by how many commands the players had answered until then."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from eventually import eventually
from up.kills.scale import Scale
from up.kills.victims import KINDS, Victims

ANSWERS_A_HAND: Final = 150
"""Fewer than a hand takes, which is about 180: so the last kill comes while there is still play."""
_AGAIN_SECONDS: Final = 120.0
"""Within which a victim that is being started again has to be there to be killed again."""


@dataclass(frozen=True, slots=True)
class Kill:
    """What is to be killed, once the players have so many answers."""

    kind: str
    after: int


def planned(scale: Scale) -> Sequence[Kill]:
    """Return whom to kill when, in order: each kind once before any is killed again. The seed decides."""
    chance = scale.chance("kills")
    kinds = chance.sample(KINDS, len(KINDS)) + chance.choices(KINDS, k=max(0, scale.kills - len(KINDS)))
    moments = sorted(chance.randrange(scale.all_hands * ANSWERS_A_HAND) for _ in range(scale.kills))
    return [Kill(kind, after) for kind, after in zip(kinds, moments, strict=False)]


class Killer:
    """Kills as it is planned; what was done when is printed, to be read when the run fails."""

    def __init__(self, victims: Victims, scale: Scale, answers: Callable[[], int]) -> None:
        self._victims = victims
        self._scale = scale
        self._answers = answers
        self._since = time.monotonic()
        self.killed: list[Kill] = []

    async def run(self) -> None:
        """Kill all that is planned. TimeoutError if one to be killed does not come back."""
        for number, kill in enumerate(planned(self._scale)):
            while self._answers() < kill.after:  # noqa: ASYNC110 - the players set no event
                await asyncio.sleep(0.01)
            await self.kill(kill, number)

    async def kill(self, kill: Kill, number: int) -> None:
        """Kill one, as soon as it runs."""
        chance = self._scale.chance(("victim", number))

        async def done() -> int | None:
            return self._victims.kill(kill.kind, chance)

        pid = await eventually(done, within=_AGAIN_SECONDS)
        self.killed.append(kill)
        self.tell(f"kill {number + 1}: {kill.kind}, process {pid}, after {self._answers()} answers")

    async def all_run(self) -> bool:
        """Tell whether everything that can be killed is there."""
        return self._victims.all_run()

    def tell(self, text: str) -> None:
        """Print it with the seconds since the beginning."""
        print(f"{time.monotonic() - self._since:7.1f} s  {text}", flush=True)
