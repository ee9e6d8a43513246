"""The course of a hand: from phase to phase, until somebody has to decide (section 3)."""

from typing import Final, assert_never

from baohuang.rules.decision import Decision
from baohuang.rules.events import PhaseBegan
from baohuang.rules.phases import answering, call, crown, play, tribute
from baohuang.rules.phases.asking import all_answered, seats_to_act
from baohuang.rules.phases.declare import asked_to_declare
from baohuang.rules.phases.ending import finish, hand_has_ended
from baohuang.rules.phases.kick import asked_to_kick
from baohuang.rules.rulesets import Guarding
from baohuang.rules.state import ALL_SEATS, SIMULTANEOUS, Hand, Phase

_AT_REST: Final = (Phase.SETTLED, Phase.REDEAL)


def begin(decision: Decision) -> None:
    """Start a hand whose cards are dealt: TRIBUTE where it is due, else CROWN."""
    if decision.ruleset.tribute:
        tribute.pay_tribute(decision)


def advance(decision: Decision) -> None:
    """Move the hand on until a player has to decide, it is over, or it needs a new deal; trustees act at once."""
    while (hand := decision.hand).phase not in _AT_REST or _is_dealt(hand):
        if _is_complete(hand):
            _enter_next_phase(decision)
            continue
        seat = _trustee_to_act(hand)
        if seat is None:
            return
        act_by_default(decision, seat)


def act_by_default(decision: Decision, seat: int) -> None:
    """Act for a seat that has to act, as a trustee does (section 3, TRUST-2)."""
    phase = decision.hand.phase
    match phase:
        case Phase.TRIBUTE:
            cards = tribute.default_return(decision.hand, seat)
            tribute.return_tribute(decision, seat, cards, automatic=True)
        case Phase.CROWN:
            crown.default_answer(decision, seat)
        case Phase.CALL:
            call.default_call(decision, seat)
        case Phase.SEIZE | Phase.DECLARE | Phase.KICK:
            answering.default_answer(decision, seat)
        case Phase.PLAY:
            play.default_play(decision, seat)
        case Phase.SETTLED | Phase.REDEAL:
            raise ValueError(f"nobody acts in {phase.name}")
        case _:
            assert_never(phase)


def _trustee_to_act(hand: Hand) -> int | None:
    return next((seat for seat in seats_to_act(hand) if hand.trusteeships[seat].active), None)


def _is_dealt(hand: Hand) -> bool:
    """Tell whether the cards of a new hand, or of a redeal, have just been dealt."""
    return hand.phase is Phase.REDEAL and any(hand.hands)


def _is_complete(hand: Hand) -> bool:
    """Tell whether the phase has nothing more to ask."""
    if hand.phase in SIMULTANEOUS:
        return all_answered(hand)
    return hand.turn is None


def _enter_next_phase(decision: Decision) -> None:
    phase = decision.hand.phase
    if phase in SIMULTANEOUS:
        answering.publish(decision)
    following = _following(decision, phase)
    match following:
        case Phase.CROWN:
            crown.offer_crown(decision)
        case Phase.SEIZE:
            decision.emit(PhaseBegan(following, None, ALL_SEATS, decision.answers_due()))
        case Phase.CALL:
            decision.emit(PhaseBegan(following, decision.hand.roles.emperor, (), decision.turn_ends()))
        case Phase.DECLARE:
            asked = asked_to_declare(decision.ruleset, decision.hand)
            decision.emit(PhaseBegan(following, None, asked, decision.answers_due()))
        case Phase.KICK:
            decision.emit(PhaseBegan(following, None, asked_to_kick(decision.hand), decision.answers_due()))
        case Phase.PLAY:
            _begin_play(decision)
        case Phase.SETTLED:
            finish(decision)
        case Phase.TRIBUTE | Phase.REDEAL:
            raise ValueError(f"{following.name} does not follow {phase.name}")
        case _:
            assert_never(following)


def _following(decision: Decision, phase: Phase) -> Phase:  # noqa: PLR0911 - one line a phase
    """Return the phase after `phase`, skipping those in which nobody could choose anything by what is public."""
    ruleset, hand = decision.ruleset, decision.hand
    match phase:
        case Phase.REDEAL | Phase.TRIBUTE:
            return Phase.CROWN
        case Phase.CROWN if ruleset.seize and not hand.roles.public_solo:
            return Phase.SEIZE
        case Phase.CROWN | Phase.SEIZE if hand.roles.public_solo:
            return _kick_or_play(decision)
        case Phase.CROWN | Phase.SEIZE:
            return Phase.CALL if ruleset.guarding is Guarding.CALLED_CARD else Phase.DECLARE
        case Phase.CALL:
            return _kick_or_play(decision) if hand.roles.public_solo else Phase.DECLARE
        case Phase.DECLARE:
            return Phase.SETTLED if hand.stakes.surrendered else _kick_or_play(decision)
        case Phase.KICK:
            return Phase.PLAY
        case Phase.PLAY | Phase.SETTLED:
            return Phase.SETTLED
        case _:
            assert_never(phase)


def _kick_or_play(decision: Decision) -> Phase:
    return Phase.KICK if decision.ruleset.kick else Phase.PLAY


def _begin_play(decision: Decision) -> None:
    play.seats_without_cards(decision)
    hand = decision.hand
    ended = hand_has_ended(decision.ruleset, hand.roles, hand.out)
    if ended:
        decision.emit(PhaseBegan(Phase.PLAY, None, ()))
    else:
        decision.emit(PhaseBegan(Phase.PLAY, play.leader(hand), (), decision.turn_ends()))
