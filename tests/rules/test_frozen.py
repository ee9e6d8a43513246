"""The quick copy of frozen data."""

from dataclasses import replace

import pytest

from baohuang.rules.frozen import changed
from baohuang.rules.state import Trick
from rules.playing import cards


def test_changed_does_what_replace_does() -> None:
    """Another value with the named fields changed, the rest and the original as they were."""
    trick = Trick(cards("9s"), 3, 1)
    assert changed(trick, passes=2) == replace(trick, passes=2)
    assert changed(trick, cards=(), player=None) == Trick((), None, 1)
    assert trick == Trick(cards("9s"), 3, 1)


def test_a_field_that_is_not_there_is_an_error() -> None:
    """A typing mistake does not pass unnoticed, though type checkers cannot see it."""
    with pytest.raises(KeyError):
        changed(Trick(), pases=1)
