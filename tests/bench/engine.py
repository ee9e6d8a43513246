"""The engine beside RLCard's `doudizhu`: random playouts, the legal moves listed at every decision, on one core.

RLCard is a three-player climbing game's environment that researchers use; each decision lists the legal actions, picks
one at random and applies it, as ours does.
"""

import random
import statistics
import time
from collections.abc import Sequence
from typing import Any, Final

from .playouts import play_for
from .row import Bench, Row

_ROUNDS: Final = 5
_SECONDS: Final = 1.5


async def run(_wanted: Sequence[str]) -> Sequence[Row]:
    """Let both play in turn, in rounds, and compare the medians."""
    import rlcard  # noqa: PLC0415 - installed for benches only

    environment = rlcard.make("doudizhu", config={"seed": 1})
    dice = random.Random(1)  # noqa: S311 - no secret
    ours: list[tuple[float, float]] = []
    theirs: list[tuple[float, float]] = []
    for _ in range(_ROUNDS):
        theirs.append(_rlcard_for(environment, _SECONDS, dice))
        ours.append(play_for(_SECONDS, dice))
    decisions, plays = (statistics.median(column) for column in zip(*ours, strict=True))
    their_decisions, their_actions = (statistics.median(column) for column in zip(*theirs, strict=True))
    against = "RLCard doudizhu environment"
    return [
        Row("engine.playouts", decisions, "decisions/s", their_decisions, against),
        Row("engine.legal", plays, "legal plays/s", their_actions, against),
    ]


def _rlcard_for(environment: Any, seconds: float, dice: random.Random) -> tuple[float, float]:
    decisions = actions = 0
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        state, _ = environment.reset()
        while not environment.is_over():
            legal = list(state["legal_actions"])
            actions += len(legal)
            state, _ = environment.step(dice.choice(legal))
            decisions += 1
    elapsed = time.perf_counter() - start
    return decisions / elapsed, actions / elapsed


BENCH: Final = Bench(("engine.playouts", "engine.legal"), run)
