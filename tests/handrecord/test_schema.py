"""The JSON Schema in the tree, the types that write records, and records."""

from collections.abc import Iterable, Iterator
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, Final, get_args, get_type_hints

import msgspec
import pytest
from jsonschema import Draft202012Validator

from baohuang.handrecord import public, write_record
from baohuang.handrecord.schema import schema_text
from baohuang.handrecord.values import BY_SEAT_FIELDS, CARD_FIELDS, INSTANT_FIELDS, SEAT_FIELDS
from baohuang.rules.cards import Card
from baohuang.rules.events import HandEvent, HandFinished, HandStarted, SeedCommitted, TableDissolved
from baohuang.rules.state import Instant
from handrecord.hands import a_record

SCHEMA: Final = Path(__file__).parents[2] / "docs" / "hand-record.schema.json"
NO_SEATS: Final = {
    "turn_seconds", "declare_seconds", "grace_seconds", "spectator_delay", "deal", "hand", "version", "count", "pile",
    "entry", "left", "place", "points", "sizes", "rests_on", "reverses",
}  # fmt: skip
"""Fields of events that hold numbers, but not of seats."""


def test_the_schema_in_the_tree_is_that_of_the_types() -> None:
    """`python -m baohuang.handrecord.schema` gives what is in the tree, and that is a schema."""
    assert SCHEMA.read_bytes() == schema_text()
    Draft202012Validator.check_schema(msgspec.json.decode(SCHEMA.read_bytes()))


@pytest.mark.parametrize("ruleset", ["homy-qingdao", "ourgame-simple"])
def test_records_keep_the_schema(ruleset: str) -> None:
    """What is written, full and public, is what the schema says; what is left out or of another type is not."""
    validator = Draft202012Validator(msgspec.json.decode(SCHEMA.read_bytes()))
    record = a_record(ruleset)
    for written in (record, public(record)):
        document: dict[str, Any] = msgspec.json.decode(write_record(written))
        validator.validate(document)
        document["events"] = [*document["events"][:2], document["events"][-1]]
        for key in document:
            assert not validator.is_valid({name: value for name, value in document.items() if name != key}), key
            assert not validator.is_valid(document | {key: {"of": "no such type"}}), key
        document["events"][1]["type"] = "TableOpened"
        assert not validator.is_valid(document)


def test_every_field_is_known_for_what_it_holds() -> None:
    """No seat, card or instant of an event goes unchecked: each field of a number or a text is listed for its kind."""
    found = list(_fields((*get_args(HandEvent), HandStarted, HandFinished, SeedCommitted, TableDissolved)))
    numbers = {name for name, kind in found if kind in {int, int | None, tuple[int, ...]}}
    assert numbers == SEAT_FIELDS | NO_SEATS
    assert {name for name, kind in found if kind in {Card, tuple[Card, ...]}} == CARD_FIELDS
    assert {name for name, kind in found if kind is Instant} <= INSTANT_FIELDS
    assert {name for name, _ in found} >= BY_SEAT_FIELDS


def _fields(classes: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    """Yield the name and the type of every field of the classes, and of whatever is in them."""
    for cls in classes:
        hints = get_type_hints(cls)
        yield from hints.items()
        for kind in hints.values():
            yield from _fields([one for one in (kind, *get_args(kind)) if is_dataclass(one)])
