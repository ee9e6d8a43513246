"""That whatever can be stored has a stored form."""

from collections.abc import Mapping

import msgspec
import pytest

from baohuang.eventlog.json_codec import Codec, Unknown
from baohuang.rules.events import EVENT_TYPES
from baohuang.scoring.events import POSTED_TYPES


@pytest.mark.parametrize("unknown", Unknown)
@pytest.mark.parametrize("classes", [EVENT_TYPES, POSTED_TYPES], ids=["the game's", "scoring's"])
def test_every_class_has_its_form(classes: Mapping[str, type], unknown: Unknown) -> None:
    """Each is made at its first use, which for a class that has none would be a player's command."""
    forms = {name: Codec[object](classes, unknown).json_form(name) for name in classes}
    assert all(issubclass(form, msgspec.Struct) and form.__name__ == name for name, form in forms.items())
