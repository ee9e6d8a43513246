"""The script verbs of a `hand` case and the actions they stand for."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from baohuang.rules import commands as cmd
from baohuang.rules.cards import UnknownCardError, parse_card, parse_cards
from baohuang.rules.state import Answer
from command_line.judge.reading import CaseError

_SEIZE: Final = MappingProxyType({"yes": Answer.SEIZE, "no": Answer.NONE})
_KICK: Final = MappingProxyType({"yes": Answer.KICK, "no": Answer.NONE})
_DECLARE: Final = MappingProxyType(
    {
        "none": Answer.NONE,
        "open-guard": Answer.OPEN_GUARD,
        "open-solo": Answer.OPEN_SOLO,
        "revolt": Answer.REVOLT,
        "surrender": Answer.SURRENDER,
    },
)
_BARE: Final[Mapping[str, cmd.Action]] = MappingProxyType(
    {
        "enthrone": cmd.Enthrone(),
        "yield": cmd.Yield(),
        "open-solo": cmd.DeclareOpenSolo(),
        "pass": cmd.Pass(),
        "trustee": cmd.RequestTrusteeship(),
        "cancel": cmd.CancelTrusteeship(),
        "leave": cmd.LeaveTable(),
        "forfeit": cmd.ForfeitSeat(),
    },
)
_OF_SEAT: Final[Mapping[str, Callable[[int], cmd.Action]]] = MappingProxyType(
    {"timeout": cmd.ExpireTurn, "kicked": cmd.KickPlayer},
)
_WITH_ARGUMENT: Final[Mapping[str, Callable[[str], cmd.Action]]] = MappingProxyType(
    {
        "seize": lambda word: cmd.AnswerSeize(_SEIZE[word]),
        "kick": lambda word: cmd.AnswerKick(_KICK[word]),
        "declare": lambda word: cmd.Declare(_DECLARE[word]),
        "call": lambda word: cmd.CallCard(parse_card(word)),
        "return": lambda words: cmd.ReturnTribute(parse_cards(words)),
        "play": lambda words: cmd.Play(parse_cards(words)),
    },
)


def action_of(verb: object, arguments: tuple[object, ...], seat: int = 0) -> cmd.Action:
    """Return the action a script line stands for; raise CaseError for an unknown verb, card or argument."""
    if isinstance(verb, str) and not arguments and verb in _BARE:
        return _BARE[verb]
    if isinstance(verb, str) and not arguments and verb in _OF_SEAT:
        return _OF_SEAT[verb](seat)
    if not isinstance(verb, str) or verb not in {*_BARE, *_OF_SEAT, *_WITH_ARGUMENT}:
        raise CaseError(f"unknown verb {verb!r}")
    match arguments:
        case (str(argument),) if verb in _WITH_ARGUMENT:
            return _with_argument(verb, argument)
        case _:
            raise CaseError(f"{verb}: wrong arguments {list(arguments)!r}")


def _with_argument(verb: str, argument: str) -> cmd.Action:
    try:
        return _WITH_ARGUMENT[verb](argument)
    except UnknownCardError as error:
        raise CaseError(f"{verb}: {error}") from error
    except KeyError as error:
        raise CaseError(f"{verb}: unknown argument {argument!r}") from error
