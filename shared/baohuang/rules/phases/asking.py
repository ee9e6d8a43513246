"""May the seat speak now: the first question to every move (section 3)."""

from collections.abc import Callable

from baohuang.rules.refusals import Refusal, RefusedError
from baohuang.rules.state import SIMULTANEOUS, Answer, Hand, Phase


def check_may_speak(hand: Hand, seat: int, *phases: Phase) -> None:
    """Raise RefusedError unless the hand is in one of `phases` and `seat` is asked there and has not answered."""
    if hand.phase not in phases:
        raise RefusedError(Refusal.WRONG_PHASE, "3", f"not a move of {hand.phase.name}")
    check_is_asked(hand, seat)


def check_is_asked(hand: Hand, seat: int) -> None:
    """Raise RefusedError unless `seat` has to act now, whatever the phase."""
    if hand.phase in SIMULTANEOUS:
        if seat not in hand.asked:
            raise RefusedError(Refusal.NOT_ELIGIBLE, "DECL-0", f"seat {seat} is not asked in {hand.phase.name}")
        if hand.answers[seat] is not None:
            raise RefusedError(Refusal.ALREADY_ANSWERED, "3", f"seat {seat} has answered")
    elif hand.turn is None:
        raise RefusedError(Refusal.WRONG_PHASE, "3", f"nobody has to act in {hand.phase.name}")
    elif hand.turn != seat:
        raise RefusedError(Refusal.NOT_YOUR_TURN, "PLAY-1", f"it is the turn of seat {hand.turn}")


def seats_to_act(hand: Hand) -> tuple[int, ...]:
    """Return the seats that have to act now, ascending: one, or in a simultaneous phase those still to answer."""
    if hand.phase in SIMULTANEOUS:
        return tuple(seat for seat in hand.asked if hand.answers[seat] is None)
    return () if hand.turn is None else (hand.turn,)


def seats_that_answered(hand: Hand, meant: Callable[[Answer], bool]) -> tuple[int, ...]:
    """Return the seats, ascending, whose answer is `meant`."""
    return tuple(seat for seat, answer in enumerate(hand.answers) if answer is not None and meant(answer))


def all_answered(hand: Hand) -> bool:
    """Tell whether every seat asked in a simultaneous phase has answered."""
    return all(hand.answers[seat] is not None for seat in hand.asked)
