"""The simultaneous phases have one shape: every seat asked answers once, in secret; then all is published together."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from baohuang.rules.decision import Decision
from baohuang.rules.events import Answered, HiddenAnswer
from baohuang.rules.phases.asking import check_may_speak
from baohuang.rules.phases.declare import check_declaration, publish_declarations
from baohuang.rules.phases.kick import check_kick, publish_kicks
from baohuang.rules.phases.seize import publish_seize
from baohuang.rules.refusals import Refusal, RefusedError
from baohuang.rules.state import Answer, Phase

_CHOICES: Final[Mapping[Phase, tuple[Answer, ...]]] = MappingProxyType(
    {
        Phase.SEIZE: (Answer.NONE, Answer.SEIZE),
        Phase.DECLARE: (Answer.NONE, Answer.OPEN_GUARD, Answer.OPEN_SOLO, Answer.REVOLT, Answer.SURRENDER),
        Phase.KICK: (Answer.NONE, Answer.KICK),
    },
)


def answer(decision: Decision, seat: int, phase: Phase, given: Answer) -> None:
    """Record the seat's answer, once; refused to that seat alone if the choice is not his (section 3)."""
    check_may_speak(decision.hand, seat, phase)
    if given not in _CHOICES[phase]:
        raise RefusedError(Refusal.NOT_ELIGIBLE, "3", f"{given.name} is no choice in {phase.name}")
    if phase is Phase.DECLARE:
        check_declaration(decision, seat, given)
    elif phase is Phase.KICK:
        check_kick(decision, seat, given)
    decision.emit(Answered(seat=seat, automatic=False, hidden=HiddenAnswer(given)))


def default_answer(decision: Decision, seat: int) -> None:
    """Answer nothing: no seize, no declaration, no kick (section 3)."""
    decision.emit(Answered(seat=seat, automatic=True, hidden=HiddenAnswer(Answer.NONE)))


def publish(decision: Decision) -> None:
    """Publish the answers of the phase, all of them being in."""
    match decision.hand.phase:
        case Phase.SEIZE:
            publish_seize(decision)
        case Phase.DECLARE:
            publish_declarations(decision)
        case Phase.KICK:
            publish_kicks(decision)
        case other:
            raise ValueError(f"{other.name} is no simultaneous phase")
