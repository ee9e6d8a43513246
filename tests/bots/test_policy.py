"""What bots choose: always legal, never against their own, better than chance, by nothing but what they may see."""

from collections.abc import Iterator

import pytest

from baohuang.rules.commands import Pass, Play
from baohuang.rules.phases.asking import seats_to_act
from baohuang.rules.redact import mask
from baohuang.rules.rulesets import RULESETS
from baohuang.rules.settlement import Outcome, sides_of
from baohuang.rules.state import ALL_SEATS, Hand, Phase, Table
from bots.dealing import BOTS, Dealer, Decision, Policy, at_random
from command_line.bots.policy import choose

_HANDS = 6
_LONGEST = 2_000
"""More decisions than any hand takes: 216 cards, and up to four passes on each play, come to about a thousand."""


def _decisions(ruleset: str, hands: int) -> Iterator[tuple[Dealer, Decision]]:
    for number in range(hands):
        dealer = Dealer(ruleset, f"{ruleset}/{number}")
        for decision in dealer.play(BOTS):
            yield dealer, decision


@pytest.mark.parametrize("ruleset", RULESETS)
def test_every_decision_is_legal_and_every_hand_ends(ruleset: str) -> None:
    """The rules accept each of more than a thousand decisions, and each hand ends with points that sum to zero."""
    for number in range(_HANDS):
        dealer = Dealer(ruleset, f"{ruleset}/{number}")
        decisions = sum(1 for _ in dealer.play(BOTS))
        assert decisions < _LONGEST
        assert sum(dealer.points()) == 0


def test_a_second_hand_with_tribute_is_played_as_well() -> None:
    """At a table of homy-qingdao the bots pay and return tribute, legally (TRIB-2)."""
    phases = set()
    for number in range(4):
        dealer = Dealer("homy-qingdao", f"tribute/{number}")
        for _ in range(2):
            phases |= {_hand(decision.seen).phase for decision in dealer.play(BOTS)}
    assert Phase.TRIBUTE in phases


@pytest.mark.parametrize("ruleset", ["homy-standard", "ourgame-classic"])
def test_a_known_ally_is_beaten_only_to_go_out(ruleset: str) -> None:
    """On a set of a public ally who is still in, a bot passes unless it plays its last cards."""
    chances = 0
    for _, decision in _decisions(ruleset, 12):
        hand = _hand(decision.seen)
        if hand.phase is Phase.PLAY and hand.trick.player in _public_allies(hand, decision.seat) - set(hand.out):
            chances += 1
            move = decision.move
            assert isinstance(move, Pass) or (isinstance(move, Play) and len(move.cards) == len(_own(decision)))
    assert chances > 50


def test_the_same_view_gives_the_same_move() -> None:
    """A decision is a function of the masked table and the seat."""
    for _, decision in _decisions("ourgame-simple", 2):
        assert choose(decision.seen, decision.seat) == decision.move


def test_what_others_hold_plays_no_part() -> None:
    """With the whole truth before it, a bot that is told what it may see decides as it does without."""
    for dealer, decision in _decisions("homy-classic", 2):
        assert dealer.table is not None
        assert mask(decision.seen, decision.seat) == decision.seen
        others = [seat for seat in ALL_SEATS if seat != decision.seat]
        assert {card for seat in others for card in _hand(decision.seen).hands[seat]} <= {"??"}


def test_nothing_to_do_is_no_decision() -> None:
    """A seat that is not asked has no move."""
    for _, decision in _decisions("ourgame-simple", 1):
        for seat in set(ALL_SEATS) - set(seats_to_act(_hand(decision.seen))):
            with pytest.raises(ValueError, match="nothing to do"):
                choose(decision.seen, seat)


@pytest.mark.parametrize("ruleset", RULESETS)
@pytest.mark.parametrize("crown_is_clever", [True, False], ids=["crown", "rebels"])
def test_a_side_of_bots_beats_a_side_of_chance(ruleset: str, crown_is_clever: bool) -> None:  # noqa: FBT001
    """Of hands between bots and players who play any legal set, the bots win nine in ten that are not drawn."""
    won = decided = 0
    for number in range(12):
        dealer = Dealer(ruleset, f"against chance/{ruleset}/{number}")
        policy = _one_side(dealer, at_random(number), crown_is_clever=crown_is_clever)
        for _ in dealer.play(dict.fromkeys(ALL_SEATS, policy)):
            pass
        crown, _rebels = _sides(dealer.hand)
        points = dealer.points()[crown[0]]
        decided += points != 0
        won += points > 0 if crown_is_clever else points < 0
    assert decided >= 6
    assert won >= 0.9 * decided


def _one_side(dealer: Dealer, chance: Policy, *, crown_is_clever: bool) -> Policy:
    """Return a policy that is a bot's on one side and chance on the other; the truth of the sides is the dealer's."""

    def move(table: Table, seat: int) -> Play | Pass:
        clever = (seat in _sides(dealer.hand)[0]) == crown_is_clever
        chosen = (choose if clever else chance)(table, seat)
        assert isinstance(chosen, Play | Pass)
        return chosen

    return lambda table, seat: (move if _hand(table).phase is Phase.PLAY else choose)(table, seat)


def _sides(hand: Hand) -> tuple[tuple[int, ...], tuple[int, ...]]:
    assert hand.roles.emperor is not None
    crown, rebels = sides_of(Outcome(hand.roles.emperor, hand.roles.guard, hand.roles.solo))
    return tuple(sorted(crown, key=lambda seat: seat != hand.roles.emperor)), tuple(rebels)


def _public_allies(hand: Hand, seat: int) -> set[int]:
    """Return the other seats of the seat's side, as far as everybody knows; the emperor is the guard's ally to him."""
    roles = hand.roles
    if roles.emperor is None or (roles.public_guard is None and not roles.public_solo):
        return {roles.emperor} - {None} if seat == roles.guard else set()  # type: ignore[return-value]
    crown = {roles.emperor, *({roles.public_guard} - {None})}
    return (crown if seat in crown else set(ALL_SEATS) - crown) - {seat}  # type: ignore[return-value]


def _hand(table: Table) -> Hand:
    assert table.hand is not None
    return table.hand


def _own(decision: Decision) -> tuple[str, ...]:
    return _hand(decision.seen).hands[decision.seat]
