"""Rulesets and options as data (section 1)."""

from typing import Any, Final

import pytest

from baohuang.rules import commands as cmd
from baohuang.rules.rulesets import (
    ALL_OPPONENTS,
    BOUNDS,
    RULESETS,
    Deck,
    Direction,
    Ending,
    Guarding,
    OptionError,
    Options,
    PointsTable,
    UnknownRulesetError,
    Yielding,
    parse_options,
    ruleset_named,
    with_options,
)
from baohuang.rules.state import TableId
from rules.playing import CALLED_RULESETS, OPERATOR, RULESET_NAMES, SWORD_RULESETS, Game

_HOMY: Final = {"homy-standard", "homy-weihai", "homy-classic", "homy-qingdao"}
_OURGAME: Final = {"ourgame-simple", "ourgame-classic"}


def _where(field: str, value: object) -> set[str]:
    return {name for name, ruleset in RULESETS.items() if getattr(ruleset, field) == value}


@pytest.mark.parametrize(
    ("field", "value", "rulesets"),
    [
        ("deck", Deck.WEIHAI, {"homy-weihai"}),
        ("guarding", Guarding.SWORD_CARD, set(SWORD_RULESETS)),
        ("guarding", Guarding.CALLED_CARD, set(CALLED_RULESETS)),
        ("direction", Direction.CLOCKWISE, _OURGAME),
        ("direction", Direction.COUNTER_CLOCKWISE, _HOMY),
        ("yielding", Yielding.HOLDER_MUST, {"homy-standard", "homy-weihai"}),
        ("yielding", Yielding.FORCED_SWEEP, set(CALLED_RULESETS)),
        ("yielding", Yielding.PASTE, {"ourgame-simple"}),
        ("seize", True, {"homy-weihai", "homy-classic", "homy-qingdao", "ourgame-classic"}),
        ("open_guard", True, _HOMY | _OURGAME),
        ("revolt_threshold", ALL_OPPONENTS, {"homy-standard", "homy-weihai"}),
        ("revolt_threshold", 2, {"ourgame-simple"}),
        ("revolt_threshold", 0, set(CALLED_RULESETS)),
        ("surrender", True, _HOMY),
        ("kick", True, _HOMY),
        ("roast", True, set()),
        ("hold6", True, set()),
        ("tribute", True, {"homy-qingdao"}),
        ("ending", Ending.FOUR_OUT, _HOMY),
        ("ending", Ending.SIDE_OUT, _OURGAME),
        ("points", PointsTable.HOMY, _HOMY),
        ("points", PointsTable.OURGAME, _OURGAME),
        ("sweep_doubling", True, _HOMY),
        ("emperor_declares", False, {"ourgame-classic"}),
    ],
)
def test_the_table_of_rulesets(field: str, value: object, rulesets: set[str]) -> None:
    """Section 1, row by row: exactly these rulesets have it so."""
    assert _where(field, value) == rulesets


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
@pytest.mark.parametrize("option", ["short_deck", "seize", "roast", "hold6"])
@pytest.mark.parametrize("value", [True, False])
def test_an_option_not_offered_is_refused(ruleset: str, option: str, value: bool) -> None:  # noqa: FBT001 - option
    """Section 1: a ruleset that does not offer an option takes neither of its values."""
    given = {option: value} | ({"short_deck": True} if (option, value) == ("hold6", True) else {})
    if ruleset in _OURGAME:
        taken = with_options(ruleset_named(ruleset), parse_options(given))
        assert (taken.deck is Deck.SHORT if option == "short_deck" else getattr(taken, option)) is value
    else:
        with pytest.raises(OptionError):
            with_options(ruleset_named(ruleset), parse_options(given))


@pytest.mark.parametrize("ruleset", sorted(_OURGAME))
@pytest.mark.parametrize("short_deck", [None, False])
def test_holding_sixes_needs_the_short_deck(ruleset: str, short_deck: bool | None) -> None:  # noqa: FBT001 - option
    """Section 1: `hold6` is accepted only together with `short_deck`."""
    with pytest.raises(OptionError, match="short_deck") as caught:
        with_options(ruleset_named(ruleset), Options(hold6=True, short_deck=short_deck))
    assert caught.value.option == "hold6"


def test_options_change_only_what_they_name() -> None:
    """An option set is in the ruleset; one not set is as the ruleset has it."""
    classic = ruleset_named("ourgame-classic")
    assert with_options(classic, Options()) == classic
    assert with_options(classic, Options(seize=False)).seize is False
    assert with_options(ruleset_named("ourgame-simple"), Options(seize=True)).seize is True
    short = with_options(classic, Options(short_deck=True, hold6=True, roast=True))
    assert (short.deck, short.hold6, short.roast, short.seize) == (Deck.SHORT, True, True, True)


@pytest.mark.parametrize("name", BOUNDS)
def test_numbers_have_bounds(name: str) -> None:
    """Both bounds are taken; beyond them the option is refused by name."""
    low, high = BOUNDS[name]
    standard = ruleset_named("homy-standard")
    for value in (low, high):
        assert with_options(standard, parse_options({name: value})) == standard
    for value in (low - 1, high + 1, -(10**30)):
        with pytest.raises(OptionError) as caught:
            with_options(standard, parse_options({name: value}))
        assert caught.value.option == name


@pytest.mark.parametrize(
    "given",
    [
        {"speed": 1},
        {"turn_seconds": "30"},
        {"turn_seconds": True},
        {"turn_seconds": 30.0},
        {"roast": 1},
        {"roast": None},
        {"bots": "yes"},
        {"": True},
    ],
)
def test_unknown_names_and_wrong_types_are_refused(given: dict[str, Any]) -> None:
    """Options come from outside: what is not an option of the right type is refused by name."""
    with pytest.raises(OptionError) as caught:
        parse_options(given)
    assert caught.value.option in given


def test_an_unknown_ruleset_is_refused() -> None:
    """There are six rulesets, and the refusal names what was asked for."""
    with pytest.raises(UnknownRulesetError, match="homy-weihei"):
        ruleset_named("homy-weihei")


def test_no_table_opens_with_a_wrong_ruleset_or_option() -> None:
    """TABLE-1: opening is refused as a whole."""
    game = Game("none", None)
    with pytest.raises(UnknownRulesetError):
        game.act(OPERATOR, cmd.OpenTable(TableId("t"), "poker", Options()))
    with pytest.raises(OptionError):
        game.act(OPERATOR, cmd.OpenTable(TableId("t"), "homy-standard", Options(roast=True)))
    assert game.events == []
