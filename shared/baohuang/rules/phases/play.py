"""PLAY (出牌): PLAY-1, PLAY-2, WIND-1, ROLE-1 and what a set must be (section 2)."""

from baohuang.rules.cards import STRENGTH, SWORD, Card, in_order, without
from baohuang.rules.clock import NEVER
from baohuang.rules.decision import Decision
from baohuang.rules.events import CardsPlayed, Passed, RoleRevealed, SeatWentOut
from baohuang.rules.legal import check_play
from baohuang.rules.phases.asking import check_may_speak
from baohuang.rules.phases.ending import hand_has_ended
from baohuang.rules.plays import SIX
from baohuang.rules.refusals import Refusal, RefusedError
from baohuang.rules.rulesets import Guarding, Ruleset
from baohuang.rules.settlement import Solo
from baohuang.rules.state import Hand, Phase, Roles, downstream_of, next_seat


def play_cards(decision: Decision, seat: int, cards: tuple[Card, ...], *, automatic: bool = False) -> None:
    """PLAY-1: lead a set, or beat the one on the table."""
    hand = decision.hand
    check_may_speak(hand, seat, Phase.PLAY)
    check_play(decision.ruleset, hand.hands[seat], hand.trick.cards, cards)
    left = len(hand.hands[seat]) - len(cards)
    out = (*hand.out, seat) if left == 0 else hand.out
    ended = left == 0 and hand_has_ended(decision.ruleset, hand.roles, out)
    decision.emit(
        CardsPlayed(
            seat=seat,
            cards=in_order(cards),
            left=left,
            place=0 if left else len(out),
            turn=None if ended else _next_in(seat, out),
            automatic=automatic,
            due_at=NEVER if ended else decision.turn_ends(),
        ),
    )
    if _shows_role(decision.ruleset, hand.roles, seat, cards, without(hand.hands[seat], cards)):
        decision.emit(RoleRevealed(seat=seat, solo=seat == hand.roles.emperor))


def pass_turn(decision: Decision, seat: int, *, automatic: bool = False) -> None:
    """PLAY-1: decline to beat the set on the table; PLAY-2, WIND-1: who leads once all have."""
    hand = decision.hand
    check_may_speak(hand, seat, Phase.PLAY)
    player = hand.trick.player
    if player is None:
        raise RefusedError(Refusal.MUST_LEAD, "PLAY-1", "the leader must play")
    others_in = len(hand.hands) - len(hand.out) - (player not in hand.out)
    over = hand.trick.passes + 1 == others_in
    turn = _leads_after(player, hand.out) if over else _next_in(seat, hand.out)
    decision.emit(Passed(seat, turn, over, automatic, decision.turn_ends()))


def default_play(decision: Decision, seat: int) -> None:
    """TRUST-2: lead the lowest single card that is legal, sixes all at once when only they are left; else pass."""
    hand = decision.hand
    if hand.trick.player is not None:
        pass_turn(decision, seat, automatic=True)
        return
    own = hand.hands[seat]
    playable = [card for card in own if STRENGTH[card] != SIX] if decision.ruleset.hold6 else own
    play_cards(decision, seat, tuple(playable[:1]) or own, automatic=True)


def seats_without_cards(decision: Decision) -> None:
    """END-3: a seat without a card when PLAY begins is out at once, in order of play from the emperor."""
    hand = decision.hand
    if hand.roles.emperor is None:
        raise ValueError("play begins with an emperor")
    for seat in downstream_of(hand.roles.emperor):
        if not hand.hands[seat]:
            decision.emit(SeatWentOut(seat))


def leader(hand: Hand) -> int:
    """PLAY-1: the emperor leads; if he has no card (END-3), the first seat downstream that has one."""
    if hand.roles.emperor is None:
        raise ValueError("play begins with an emperor")
    return _leads_after(hand.roles.emperor, hand.out)


def _next_in(seat: int, out: tuple[int, ...]) -> int:
    """Return the next seat in order of play that still holds cards; the seat itself if nobody else does."""
    for other in downstream_of(next_seat(seat)):
        if other not in out:
            return other
    return seat


def _leads_after(player: int, out: tuple[int, ...]) -> int:
    """PLAY-2, WIND-1: who made the last play leads; if he is out, the first seat downstream that is still in."""
    return player if player not in out else _next_in(player, out)


def _shows_role(ruleset: Ruleset, roles: Roles, seat: int, cards: tuple[Card, ...], left: tuple[Card, ...]) -> bool:
    """ROLE-1: the play shows the guard or the hidden solo to those who did not know."""
    if roles.public_guard is not None or roles.public_solo:
        return False
    hidden_solo = seat == roles.emperor and roles.solo is Solo.HIDDEN
    if not hidden_solo and seat != roles.guard:
        return False
    if ruleset.guarding is Guarding.SWORD_CARD:
        return SWORD in cards
    return roles.called in cards and roles.called not in left
