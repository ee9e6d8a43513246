"""What a bot does: a pure function of what its seat may see."""

from typing import assert_never

from baohuang.rules.commands import Move, Pass, Play
from baohuang.rules.legal import cards_for
from baohuang.rules.phases.asking import seats_to_act
from baohuang.rules.state import Hand, Phase, Table
from command_line.bots.answering import answer
from command_line.bots.declarations import (
    call,
    crown_answer,
    declaration,
    kick_answer,
    returned_tribute,
    seize_answer,
)
from command_line.bots.leading import lead


def choose(table: Table, seat: int) -> Move:  # noqa: PLR0911 - one line a phase
    """Return the move of the seat, by its own masked table. Raises ValueError when it has nothing to do."""
    hand = table.hand
    if hand is None or seat not in seats_to_act(hand):
        raise ValueError(f"seat {seat} has nothing to do")
    match hand.phase:
        case Phase.TRIBUTE:
            return returned_tribute(hand, seat)
        case Phase.CROWN:
            return crown_answer(table, hand, seat)
        case Phase.SEIZE:
            return seize_answer(hand, seat)
        case Phase.CALL:
            return call(hand, seat)
        case Phase.DECLARE:
            return declaration(table, hand, seat)
        case Phase.KICK:
            return kick_answer(hand, seat)
        case Phase.PLAY:
            return _play(table, hand, seat)
        case Phase.SETTLED | Phase.REDEAL:
            raise ValueError(f"nobody acts in {hand.phase.name}")
        case _:
            assert_never(hand.phase)


def _play(table: Table, hand: Hand, seat: int) -> Move:
    own = hand.hands[seat]
    if not hand.trick.cards:
        return Play(cards_for(own, lead(table.ruleset, hand, seat)))
    shape = answer(table.ruleset, hand, seat)
    return Pass() if shape is None else Play(cards_for(own, shape))
