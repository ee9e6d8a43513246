"""Which events are rulings: RULE-1."""

from dataclasses import fields
from typing import get_args

from baohuang.rules.events import EVENT_TYPES, Ruling, is_ruling


def test_a_ruling_tells_its_clause_and_when_it_was_decided() -> None:
    """Each does, and no other event tells both; no event is no ruling."""
    both = {"rule", "decided_at"}
    telling = {event for event in EVENT_TYPES.values() if both <= {field.name for field in fields(event)}}
    assert telling == set(get_args(Ruling))
    assert not is_ruling(None)
