"""What a person asks for by one line. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from baohuang.rules.cards import Card, identical, in_order
from baohuang.rules.commands import (
    AnswerKick,
    AnswerSeize,
    CallCard,
    Declare,
    DeclareOpenSolo,
    Enthrone,
    Move,
    Pass,
    Play,
    ReturnTribute,
    Yield,
)
from baohuang.rules.state import Answer, Hand, Phase
from command_line.play.card_words import UnreadableError, picked, rank_word, wanted

_CALLABLE: Final = (3, 4)


@dataclass(frozen=True, slots=True)
class Make:
    """Make a move."""

    move: Move


@dataclass(frozen=True, slots=True)
class Help:
    """Tell what is possible now."""


@dataclass(frozen=True, slots=True)
class Trustee:
    """Ask for the trustee (`active`), or take the seat back (TRUST-1, TRUST-3)."""

    active: bool


@dataclass(frozen=True, slots=True)
class Leave:
    """Leave the table (FINE-1)."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """An empty line."""


Request = Make | Help | Trustee | Leave | Nothing

MOVES: Final[Mapping[Phase, Mapping[str, Move]]] = MappingProxyType(
    {
        Phase.CROWN: {"e": Enthrone(), "y": Yield(), "o": DeclareOpenSolo()},
        Phase.SEIZE: {"s": AnswerSeize(Answer.SEIZE), "n": AnswerSeize(Answer.NONE)},
        Phase.CALL: {"o": DeclareOpenSolo()},
        Phase.DECLARE: {
            "g": Declare(Answer.OPEN_GUARD),
            "o": Declare(Answer.OPEN_SOLO),
            "r": Declare(Answer.REVOLT),
            "u": Declare(Answer.SURRENDER),
            "n": Declare(Answer.NONE),
        },
        Phase.KICK: {"k": AnswerKick(Answer.KICK), "n": AnswerKick(Answer.NONE)},
        Phase.PLAY: {"p": Pass()},
    },
)
"""The moves that are one word, by phase."""
_COMMANDS: Final[Mapping[str, Request]] = MappingProxyType(
    {
        **dict.fromkeys(("h", "H", "?", "help"), Help()),
        **dict.fromkeys(("q", "quit", "leave"), Leave()),
    },
)
"""Good at any time. `T` and `Q` are not among them: a ten and a queen."""
_TRUSTEE: Final = frozenset({"t", "trustee"})
NO_HAND: Final = "no hand is being played yet: wait until you are asked"
_SPELLED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "enthrone": "e",
        "yield": "y",
        "open": "o",
        "solo": "o",
        "seize": "s",
        "no": "n",
        "nothing": "n",
        "guard": "g",
        "revolt": "r",
        "surrender": "u",
        "kick": "k",
        "pass": "p",
    },
)
"""Whole words for the short ones."""


def read(line: str, hand: Hand | None, seat: int) -> Request:
    """Return what the line asks for; `hand` is None before it begins. Raises UnreadableError naming what is wrong."""
    text = line.strip()
    if not text:
        return Nothing()
    if command := _COMMANDS.get(text):
        return command
    if hand is None or hand.result is not None:
        raise UnreadableError(f"{NO_HAND} (h help, q leave)")
    if text in _TRUSTEE:
        return Trustee(active=not hand.trusteeships[seat].active)
    return Make(_move(text, hand, seat))


def _move(text: str, hand: Hand, seat: int) -> Move:
    words = MOVES.get(hand.phase, {})
    lower = text.lower()
    if move := words.get(_SPELLED.get(lower, lower)):
        return move
    match hand.phase:
        case Phase.PLAY:
            return Play(picked(text, hand.hands[seat]))
        case Phase.CALL:
            return CallCard(called_card(_behind(text, "c", "call"), hand.hands[seat]))
        case Phase.TRIBUTE:
            return ReturnTribute(picked(_behind(text, "r", "return"), hand.hands[seat]))
    raise UnreadableError(f"{text!r} is no answer here: {', '.join([*words, 'h for help'])}")


def _behind(text: str, *verbs: str) -> str:
    """Return what follows the verb. Raises UnreadableError if there is another one, or nothing behind it."""
    verb, _, rest = text.partition(" ")
    if verb.lower() not in verbs or not rest.strip():
        raise UnreadableError(f"{text!r} is no answer here: `{verbs[0]}` and cards, or h for help")
    return rest


def called_card(text: str, held: tuple[Card, ...]) -> Card:
    """Return the card to call: named exactly, or by a rank of which only one card can be called (CALL-1)."""
    asked = wanted(text)
    if len(asked.exactly) == 1 and not asked.of_strength:
        return asked.exactly[0]
    if asked.exactly or asked.of_strength.total() != 1:
        raise UnreadableError("call one card, as in `c 9h`", "CALL-1")
    (strength,) = asked.of_strength
    rank = rank_word(strength)
    found = [card for card in callable_cards(held) if card[0] == rank]
    if len(found) != 1:
        which = f"which one: {' '.join(found)}?" if found else f"you hold no three or four of one {rank}"
        raise UnreadableError(which, "CALL-1")
    return found[0]


def callable_cards(held: tuple[Card, ...]) -> tuple[Card, ...]:
    """Return the cards that may be called, lowest first: three of them are held, or all four (CALL-1)."""
    return in_order(card for copies in _CALLABLE for card in identical(held, copies))
