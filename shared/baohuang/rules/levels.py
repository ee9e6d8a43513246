"""The 14 levels of cumulative points, fines included (LVL-1)."""

from bisect import bisect_right
from dataclasses import dataclass
from typing import Final

_BOUNDS: Final = (30, 60, 90, 180, 320, 530, 840, 1150, 1600, 2300, 3450, 5000, 6900)
_TITLES: Final = (
    "包身工", "短工", "长工", "佃户", "贫农", "渔夫", "猎人",
    "中农", "富农", "掌柜", "商人", "衙役", "小财主", "大财主",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Level:
    """A level: its number 1..14 and its title."""

    number: int
    title: str


def level_of(points: int) -> Level:
    """Return the level of a player with that many cumulative points (LVL-1)."""
    index = bisect_right(_BOUNDS, points)
    return Level(index + 1, _TITLES[index])
