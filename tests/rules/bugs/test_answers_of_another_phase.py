"""An answer that belongs to another phase was recorded in SEIZE, and made DECLARE and KICK fail with a KeyError."""

import pytest

from baohuang.rules import commands as cmd
from baohuang.rules.refusals import Refusal
from baohuang.rules.state import Answer
from rules.test_declare import declaring
from rules.test_kick import kicking
from rules.test_seize import seizing


@pytest.mark.parametrize("answer", [answer for answer in Answer if answer not in {Answer.NONE, Answer.SEIZE}])
def test_in_seize(answer: Answer) -> None:
    """Section 3: only a seize or none is a choice there."""
    assert seizing("homy-weihai").refused(1, cmd.AnswerSeize(answer)) is Refusal.NOT_ELIGIBLE


@pytest.mark.parametrize("answer", [Answer.HIDDEN, Answer.SEIZE, Answer.KICK])
def test_in_declare(answer: Answer) -> None:
    """Section 3: a seize or a kick is no declaration, and a masked answer is none at all."""
    assert declaring("homy-standard").refused(2, cmd.Declare(answer)) is Refusal.NOT_ELIGIBLE


@pytest.mark.parametrize("answer", [answer for answer in Answer if answer not in {Answer.NONE, Answer.KICK}])
def test_in_kick(answer: Answer) -> None:
    """Section 3: only a kick or none is a choice there."""
    assert kicking("homy-standard").refused(2, cmd.AnswerKick(answer)) is Refusal.NOT_ELIGIBLE
