"""Levels: LVL-1."""

import pytest

from baohuang.rules.levels import level_of

_TOLD = (
    (1, "包身工", 30), (2, "短工", 60), (3, "长工", 90), (4, "佃户", 180), (5, "贫农", 320), (6, "渔夫", 530),
    (7, "猎人", 840), (8, "中农", 1150), (9, "富农", 1600), (10, "掌柜", 2300), (11, "商人", 3450), (12, "衙役", 5000),
    (13, "小财主", 6900),
)  # fmt: skip


@pytest.mark.parametrize(("number", "title", "below"), _TOLD)
def test_each_bound_belongs_to_the_level_above(number: int, title: str, below: int) -> None:
    """LVL-1: a level ends one point below its bound; the bound itself is the next level."""
    level = level_of(below - 1)
    assert (level.number, level.title) == (number, title)
    assert level_of(below).number == number + 1


@pytest.mark.parametrize(("points", "number"), [(-(10**9), 1), (-40, 1), (0, 1), (6900, 14), (10**9, 14)])
def test_there_is_no_end_below_or_above(points: int, number: int) -> None:
    """LVL-1: fines may take anybody below zero; the last level has no bound."""
    assert level_of(points).number == number


def test_the_last_level() -> None:
    """LVL-1: 大财主 from 6900 on."""
    assert level_of(6900).title == "大财主"
