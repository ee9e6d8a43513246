"""Documents that are no records: each is refused with the field named, whatever is wrong with it."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from random import Random
from typing import Any, Final

import msgspec
import pytest

from baohuang.handrecord import MalformedRecord, public, read_record, replay, write_record
from baohuang.handrecord.form import MOST_BYTES
from baohuang.rules.rulesets import RULESETS
from handrecord.hands import a_record

RECORD: Final = a_record()
DOCUMENT: Final[dict[str, Any]] = msgspec.json.decode(write_record(RECORD))
PUBLIC: Final[dict[str, Any]] = msgspec.json.decode(write_record(public(RECORD)))
LAST: Final = max(number for number, event in enumerate(DOCUMENT["events"]) if event["type"] == "HandFinished")
PLAYED: Final = next(number for number, event in enumerate(DOCUMENT["events"]) if event["type"] == "CardsPlayed")
DAMAGES: Final = 240


def _in_event(number: int, **data: object) -> Callable[[dict[str, Any]], None]:
    def damage(document: dict[str, Any]) -> None:
        document["events"][number]["data"].update(data)

    return damage


def _in_heading(**keys: object) -> Callable[[dict[str, Any]], None]:
    return lambda document: document.update(keys)


def _in_entry(number: int, **keys: object) -> Callable[[dict[str, Any]], None]:
    return lambda document: document["events"][number].update(keys)


def _in_result(**keys: object) -> Callable[[dict[str, Any]], None]:
    return lambda document: document["result"].update(keys)


def _without_event(number: int) -> Callable[[dict[str, Any]], None]:
    def damage(document: dict[str, Any]) -> None:
        del document["events"][number]

    return damage


def _cut_before(number: int) -> Callable[[dict[str, Any]], None]:
    return lambda document: document.update(events=document["events"][:number])


@pytest.mark.parametrize(
    ("damage", "field", "why"),
    [
        (_in_heading(format="phh"), "format", "baohuang-hand"),
        (_in_heading(version=2), "version", "reads version 1, not 2"),
        (_in_heading(version="1"), "version", "Expected `int`"),
        (_in_heading(variant="secret"), "variant", "secret"),
        (_in_heading(players=["a", "b"]), "players", "the events say"),
        (_in_heading(hand=9), "hand", "is 9, the events say 1"),
        (_in_heading(startedAt="yesterday"), "startedAt", "the events say"),
        (_in_heading(events=[]), "events[0].type", "must be HandStarted"),
        (_in_result(points=[1, 1, 1, 1, -4]), "result.points", "the events say"),
        (_in_result(fines=[0, 0, 0, 0, -20]), "result.fines", "the events say"),
        (_in_result(places=None), "result.places", "Expected `array`"),
        (_in_entry(3, version=77), "events[3].version", "not 77"),
        (_in_entry(3, at="2026-01-31T08:05:09Z"), "events[3].at", "must be an instant"),
        (_in_entry(3, type="CardsEaten"), "events[3].type", "CardsEaten"),
        (_in_entry(3, data=[]), "events[3].data", "Expected `object`"),
        (_in_event(PLAYED, seat="first"), f"events[{PLAYED}].data.seat", "Expected `int`"),
        (_in_event(PLAYED, seat=5), f"events[{PLAYED}].data.seat", "there is no seat 5"),
        (_in_event(PLAYED, turn=-1), f"events[{PLAYED}].data.turn", "there is no seat -1"),
        (_in_event(PLAYED, cards=["9h", "1h"]), f"events[{PLAYED}].data.cards[1]", "'1h' is not a card"),
        (_in_event(PLAYED, cards=["BJ*"] * 2), f"events[{PLAYED}].data", "not in"),
        (_in_event(PLAYED, dueAt="soon"), f"events[{PLAYED}].data.dueAt", "must be an instant"),
        (_in_event(0, ruleset="poker"), f"events[{LAST}].data.ruleset", "not those the hand began with"),
        (_in_event(0, players=["a"] * 5), "events[0].data.players", "5 different players"),
        (_in_event(0, version=1), "events[0].data.version", "the event's own is"),
        (_in_event(0, entropy=["", "", "", "", "else"]), "events[1].data", "FAIR-1"),
        (_in_event(0, commitment="00" * 32), f"events[{LAST}].data", "FAIR-1"),
        (_in_event(0, hidden={"seed": "00" * 32}), "events[0].data.hidden.seed", "FAIR-1"),
        (_in_event(0, hidden=None), "events[0].data.hidden", "a full record has it"),
        (_in_event(LAST, seeds=["zz"]), f"events[{LAST}].data", "FAIR-1"),
        (_in_event(LAST, seeds=[]), f"events[{LAST}].data", "0 seeds are opened"),
        (_in_event(LAST, points=[0, 0, 0, 0, 1]), f"events[{LAST}].data.points", "the outcome gives"),
        (_in_event(LAST, places=[0, 1, 2]), f"events[{LAST}].data.places", "all five seats"),
        (_in_event(LAST, places=[0, 1, 2, 3, 3]), f"events[{LAST}].data.places", "named twice"),
        (_in_event(LAST, hand=2), f"events[{LAST}].data.hand", "hand 1 began, 2 ended"),
        (_without_event(4), "events[4].version", "must be"),
        (_cut_before(LAST), f"events[{LAST - 1}].type", "a record is of a finished hand"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(damage: Callable[[dict[str, Any]], None], field: str, why: str) -> None:
    """Every damage is refused at the very field, with what was expected there."""
    document = msgspec.json.decode(msgspec.json.encode(DOCUMENT))
    damage(document)
    with pytest.raises(MalformedRecord) as caught:
        read_record(msgspec.json.encode(document))
    assert (caught.value.field, why in caught.value.why) == (field, True), str(caught.value)
    assert str(caught.value).startswith(field)


@pytest.mark.parametrize(
    ("document", "why"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff", "not JSON"),
        (b"[]", "Expected `object`"),
        (b"{}", "missing required field `format`"),
        (b'{"format": "baohuang-hand", "more": ' + b"[" * 100_000, "nested too deeply"),
        (b" " * (MOST_BYTES + 1), "at most"),
    ],
)  # fmt: skip
def test_what_is_no_json_is_refused(document: bytes, why: str) -> None:
    """The document as a whole is refused before anything of it is used."""
    with pytest.raises(MalformedRecord, match=why):
        read_record(document)


def test_a_public_record_hides_everything() -> None:
    """A public record with a hidden part is refused, and so is one that says of itself that it is full."""
    shown = next(number for number, event in enumerate(DOCUMENT["events"]) if event["type"] == "CardsDealt")
    document = msgspec.json.decode(msgspec.json.encode(PUBLIC))
    document["events"][shown] = DOCUMENT["events"][shown]
    with pytest.raises(MalformedRecord, match="a public record shows nothing") as caught:
        read_record(msgspec.json.encode(document))
    assert caught.value.field == f"events[{shown}].data.hidden"
    with pytest.raises(MalformedRecord, match="a full record has it"):
        read_record(msgspec.json.encode(PUBLIC | {"variant": "full"}))


@pytest.mark.parametrize("ruleset", RULESETS)
def test_any_damage_is_refused_or_harmless(ruleset: str) -> None:
    """Whatever is put in the place of whatever value: the record is refused as malformed, or replays to its end."""
    chance = Random(ruleset)  # noqa: S311 - the same damages on every run
    record = a_record(ruleset, "damaged")
    refused = 0
    for written in (write_record(record), write_record(public(record))):
        for _ in range(DAMAGES // len(RULESETS)):
            document = msgspec.json.decode(written)
            _damage(document, chance)
            try:
                assert replay(read_record(msgspec.json.encode(document)))
            except MalformedRecord:
                refused += 1
    assert refused > DAMAGES // len(RULESETS)


def _damage(document: dict[str, Any], chance: Random) -> None:
    places = list(_places(document["events"])) if chance.random() < 0.9 else list(_places(document))
    holder, key = chance.choice(places)
    if chance.random() < 0.1:
        del holder[key]
    else:
        holder[key] = chance.choice(_ANYTHING) if chance.random() < 0.5 else _another(chance, places)


def _another(chance: Random, places: list[tuple[Any, Any]]) -> object:
    """Return a copy of another value, which may hold the place that it is put in."""
    holder, key = chance.choice(places)
    return deepcopy(holder[key])


def _places(thing: object) -> Iterator[tuple[Any, Any]]:
    items = thing.items() if isinstance(thing, dict) else enumerate(thing) if isinstance(thing, list) else ()
    for key, value in items:
        yield thing, key
        yield from _places(value)


_ANYTHING: Final[tuple[object, ...]] = (
    None, True, 0, 1, 4, 5, -1, 2**31, 1.5, "", "9h", "BJ*", "??", "\0", "皇", "HandFinished", "PlayerBanned",
    "TableOpened", "homy-classic", [], [0], [0, 1, 2, 3, 4], ["9h"] * 44, {}, {"seat": 0}, {"seed": ""}, {"hidden": {}},
)  # fmt: skip
