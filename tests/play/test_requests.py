"""Every word, in every phase."""

from dataclasses import replace

import pytest

from baohuang.rules.cards import in_order, parse_cards
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
from baohuang.rules.state import Answer, Hand, Phase, PlayerId, Result, Trusteeship
from command_line.play.card_words import UnreadableError
from command_line.play.requests import Help, Leave, Make, Nothing, Request, Trustee, read

PLAYERS = tuple(map(PlayerId, "abcde"))
HELD = in_order(parse_cards("3c 3c 3c 4d 4d 4d 4d 4s 4s 4s 9h 9h 9h Th Qs SJ"))


def _hand(phase: Phase) -> Hand:
    return Hand(number=1, players=PLAYERS, dealer=0, phase=phase, hands=(HELD, (), (), (), ()))


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize(
    ("typed", "request_"),
    [
        ("h", Help()),
        ("H", Help()),
        ("?", Help()),
        ("help", Help()),
        ("t", Trustee(active=True)),
        ("trustee", Trustee(active=True)),
        ("q", Leave()),
        ("quit", Leave()),
        ("leave", Leave()),
        ("", Nothing()),
        ("  ", Nothing()),
    ],
)
def test_commands_are_the_same_in_every_phase(phase: Phase, typed: str, request_: Request) -> None:
    """Help, trustee, leaving and nothing at all."""
    assert read(f" {typed} ", _hand(phase), 0) == request_


@pytest.mark.parametrize(
    ("phase", "typed", "move"),
    [
        (Phase.CROWN, "e", Enthrone()),
        (Phase.CROWN, "enthrone", Enthrone()),
        (Phase.CROWN, "Y", Yield()),
        (Phase.CROWN, "yield", Yield()),
        (Phase.CROWN, "o", DeclareOpenSolo()),
        (Phase.SEIZE, "s", AnswerSeize(Answer.SEIZE)),
        (Phase.SEIZE, "no", AnswerSeize(Answer.NONE)),
        (Phase.CALL, "c 9h", CallCard(in_order(parse_cards("9h"))[0])),
        (Phase.CALL, "C 9H", CallCard(in_order(parse_cards("9h"))[0])),
        (Phase.CALL, "call 9", CallCard(in_order(parse_cards("9h"))[0])),
        (Phase.CALL, "c 10h", CallCard(in_order(parse_cards("Th"))[0])),
        (Phase.CALL, "o", DeclareOpenSolo()),
        (Phase.DECLARE, "g", Declare(Answer.OPEN_GUARD)),
        (Phase.DECLARE, "open", Declare(Answer.OPEN_SOLO)),
        (Phase.DECLARE, "r", Declare(Answer.REVOLT)),
        (Phase.DECLARE, "u", Declare(Answer.SURRENDER)),
        (Phase.DECLARE, "n", Declare(Answer.NONE)),
        (Phase.KICK, "k", AnswerKick(Answer.KICK)),
        (Phase.KICK, "n", AnswerKick(Answer.NONE)),
        (Phase.TRIBUTE, "r 3 9h", ReturnTribute(parse_cards("9h 3c"))),
        (Phase.TRIBUTE, "return 3c", ReturnTribute(parse_cards("3c"))),
        (Phase.PLAY, "p", Pass()),
        (Phase.PLAY, "pass", Pass()),
        (Phase.PLAY, "99", Play(parse_cards("9h 9h"))),
        (Phase.PLAY, "s", Play(parse_cards("SJ"))),
        (Phase.PLAY, "T", Play(parse_cards("Th"))),
        (Phase.PLAY, "10", Play(parse_cards("Th"))),
        (Phase.PLAY, "Q", Play(parse_cards("Qs"))),
    ],
)
def test_words_of_the_phases(phase: Phase, typed: str, move: Move) -> None:
    """Short words, whole words, and cards; an upper-case ten or queen is a card, not a command."""
    assert read(typed, _hand(phase), 0) == Make(move)


@pytest.mark.parametrize(
    ("phase", "typed", "part"),
    [
        (Phase.CROWN, "p", "'p' is no answer here: e, y, o, h for help"),
        (Phase.SEIZE, "99", "s, n"),
        (Phase.CALL, "9h", "`c` and cards"),
        (Phase.CALL, "c", "`c` and cards"),
        (Phase.CALL, "c 4", "which one: 4d 4s?"),
        (Phase.CALL, "c 8", "no three or four of one 8"),
        (Phase.CALL, "c 9h 4s", "call one card"),
        (Phase.CALL, "c 9 9", "call one card"),
        (Phase.CALL, "c zz", "'zz' is no card"),
        (Phase.DECLARE, "k", "g, o, r, u, n"),
        (Phase.KICK, "r", "k, n"),
        (Phase.TRIBUTE, "n", "`r` and cards"),
        (Phase.TRIBUTE, "r", "`r` and cards"),
        (Phase.TRIBUTE, "r 8", "you hold 0 of 8"),
        (Phase.PLAY, "e", "'e' is no card"),
        (Phase.SETTLED, "e", "no answer here"),
        (Phase.REDEAL, "99", "no answer here"),
    ],
)
def test_what_is_no_word_there(phase: Phase, typed: str, part: str) -> None:
    """A word of another phase, a call or a return without cards: the message says what there is."""
    with pytest.raises(UnreadableError) as wrong:
        read(typed, _hand(phase), 0)
    assert part in wrong.value.message


def test_no_hand() -> None:
    """Before a hand and after it there is nothing to answer."""
    over = replace(_hand(Phase.SETTLED), result=Result((), (0, 0, 0, 0, 0), void=True, seeds=()))
    for hand in (None, over):
        with pytest.raises(UnreadableError, match="no hand"):
            read("99", hand, 0)
        with pytest.raises(UnreadableError, match="no hand"):
            read("t", hand, 0)
        assert read("h", hand, 0) == Help()


def test_the_trustee_is_asked_for_or_sent_away() -> None:
    """`t` means the opposite of what is (TRUST-1, TRUST-3)."""
    hand = _hand(Phase.PLAY)
    trustees = (Trusteeship(active=True, entries=1), *hand.trusteeships[1:])
    assert read("t", replace(hand, trusteeships=trustees), 0) == Trustee(active=False)
