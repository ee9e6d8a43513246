"""What is told to players: the same in both languages, and the few words that everything told is put together from."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from baohuang.rules.state import Instant, PlayerId

_SYSTEM: Final = "@"
"""How the names begin under which the service itself acts; no player's does."""
_ORDINALS: Final = ("first", "second", "third", "fourth")
_MINUTE: Final = 60.0


@dataclass(frozen=True, slots=True)
class Told:
    """The same in both languages."""

    english: str
    chinese: str


@dataclass(frozen=True, slots=True)
class Names:
    """Who plays a hand, by seat, if that is known; else seats are all there is to call them by."""

    players: tuple[PlayerId, ...] = ()

    def of(self, seat: int) -> Told:
        """Return what a seat's player is called."""
        if 0 <= seat < len(self.players):
            return seated(self.players[seat], seat)
        return Told(f"seat {seat}", f"{seat} 号座位")


def seated(player: PlayerId, seat: int) -> Told:
    """Return what a player at a seat is called."""
    return Told(f"{player} (seat {seat})", f"{player}（座位 {seat}）")


def person(actor: str) -> Told:
    """Return what somebody who did something is called, the service itself among them."""
    return Told("the service itself", "服务自身") if actor.startswith(_SYSTEM) else Told(actor, actor)


def several(seats: Sequence[int]) -> Told:
    """Return what several seats are called; of none, which only a forged ruling is about, that it is none."""
    if not seats:
        return Told("no seat", "无座位")
    *most, last = map(str, seats)
    english = f"seats {', '.join(most)} and {last}" if most else f"seat {last}"
    return Told(english, f"座位 {'、'.join((*most, last))}")


def ordinal(number: int) -> str:
    """Return the English word for the so-manieth."""
    return _ORDINALS[number - 1] if 0 < number <= len(_ORDINALS) else f"{number}th"


def length(since: Instant, until: Instant) -> Told:
    """Return how long it is from one reading of the clock to another, as one says it: 11 ms, 3.05 s, 2 min 5 s.

    In a record that was forged a reading may be anything.
    """
    try:
        seconds = (datetime.fromisoformat(until) - datetime.fromisoformat(since)) / timedelta(seconds=1)
    except (ValueError, TypeError):
        return Told("an unknown time", "不明时长")
    if seconds < 1:
        thousandths = f"{seconds * 1000:.1f}".removesuffix(".0")
        return Told(f"{thousandths} ms", f"{thousandths} 毫秒")
    if seconds < _MINUTE:
        whole = f"{seconds:.2f}".rstrip("0").rstrip(".")
        return Told(f"{whole} s", f"{whole} 秒")
    minutes, rest = divmod(round(seconds), round(_MINUTE))
    return Told(f"{minutes} min {rest} s", f"{minutes} 分 {rest} 秒")
