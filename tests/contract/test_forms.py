"""That whatever can be stored has a stored form."""

from collections.abc import Mapping

import pytest

from baohuang.eventlog.json_codec import Codec, Unknown
from baohuang.rules.events import EVENT_TYPES
from baohuang.scoring.events import POSTED_TYPES


@pytest.mark.parametrize("unknown", Unknown)
@pytest.mark.parametrize("classes", [EVENT_TYPES, POSTED_TYPES], ids=["the game's", "scoring's"])
def test_every_class_has_its_form(classes: Mapping[str, type], unknown: Unknown) -> None:
    """Each is made at its first use, which for a class that has none would be a player's command."""
    codec = Codec[object](classes, unknown)
    assert [codec.json_form(name).__name__ for name in classes] == list(classes)
