"""Cases with whole decks, made up by an arithmetic that is the same on every machine.

What is expected follows from the rules alone: nobody beats the big joker that the emperor leads, so the lead is his
again. In every tenth case five trustees play the hand to its end: it is void, the table dissolved, nobody fined.
"""

from typing import Any, Final

_RANKS: Final = "3456789TJQKA2"
_DECK: Final = (
    *(rank + suit for rank in _RANKS for suit in "shdc" for _ in range(4)),
    *("BJ*", "BJ", "BJ", "BJ", "SJ*", "SJ", "SJ", "SJ"),
)
_RULESETS: Final = ("homy-standard", "ourgame-simple")
_VOID: Final[dict[str, Any]] = {
    "rejected": [[6, "WRONG_PHASE"]],
    "phase": "SETTLED",
    "turn": None,
    "points": [0, 0, 0, 0, 0],
    "fines": [0, 0, 0, 0, 0],
    "trustees": [0, 1, 2, 3, 4],
    "void": True,
    "dissolved": True,
}
_PRIME: Final = 2_147_483_647
_GENERATOR: Final = 48_271


def full_deal_cases(count: int) -> list[dict[str, Any]]:
    """Return so many distinct `hand` cases of 216 cards."""
    return [_case(number) for number in range(count)]


def _case(number: int) -> dict[str, Any]:
    cards = _shuffled(number + 1)
    deal = [cards[seat::5] for seat in range(5)]
    emperor = next(seat for seat in range(5) if "BJ*" in deal[seat])
    ruleset = _RULESETS[number // 10 % len(_RULESETS)]
    to_the_end = number % 10 == 0
    return {
        "id": f"full-{number}",
        "kind": "hand",
        "ruleset": ruleset,
        "deal": [" ".join(hand) for hand in deal],
        "script": [[emperor, "enthrone"], *(_played_out() if to_the_end else _first_trick(emperor, ruleset))],
        "expect": {"emperor": emperor, **(_VOID if to_the_end else _after_first_trick(deal, emperor))},
    }


def _played_out() -> list[list[object]]:
    return [*([seat, "trustee"] for seat in range(5)), [0, "pass"]]


def _first_trick(emperor: int, ruleset: str) -> list[list[object]]:
    others = [(emperor + step) % 5 for step in range(1, 5)]
    return [
        *([seat, "declare", "none"] for seat in range(5)),
        *([seat, "kick", "no"] for seat in others if ruleset.startswith("homy")),
        [emperor, "play", "BJ*"],
        *([seat, "pass"] for seat in others),
    ]


def _after_first_trick(deal: list[list[str]], emperor: int) -> dict[str, Any]:
    guard = next(seat for seat in range(5) if "SJ*" in deal[seat])
    alone = guard == emperor
    return {
        "rejected": [],
        "phase": "PLAY",
        "turn": emperor,
        "table": None,
        "guard": None if alone else guard,
        "solo": "hidden" if alone else None,
        "public_guard": None,
        "public_solo": False,
        "sizes": [len(hand) - (seat == emperor) for seat, hand in enumerate(deal)],
        "points": None,
    }


def _shuffled(start: int) -> list[str]:
    """Return the deck shuffled by Lehmer's generator (Park and Miller's minimal standard) begun at `start`."""
    cards, value = list(_DECK), start
    for _ in range(8):
        value = value * _GENERATOR % _PRIME
    for last in range(len(cards) - 1, 0, -1):
        value = value * _GENERATOR % _PRIME
        other = value % (last + 1)
        cards[last], cards[other] = cards[other], cards[last]
    return cards
