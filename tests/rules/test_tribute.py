"""Tribute of homy-qingdao: TRIB-1, TRIB-2. Unless a test says otherwise 0 was emperor and 2 guard in the last hand."""

import pytest

from baohuang.rules import commands as cmd
from baohuang.rules.cards import CROWN
from baohuang.rules.events import TributePaid, TributeReturned
from baohuang.rules.redact import mask, redact
from baohuang.rules.refusals import Refusal
from baohuang.rules.settlement import Solo
from baohuang.rules.state import Phase, PlayerId, Previous
from rules.playing import PASS, PLAYERS, RULESET_NAMES, YIELD, cards, give_back, given

HANDS = ("BJ* 9c 9c 9c 3s", "BJ 2s 9c 4c", "SJ* 8s 5c", "SJ 2h 6c", "Qs 7c")
WON = (24, -12, 12, -12, -12)
SOLO_WON = (32, -8, -8, -8, -8)
SOLO_LOST = (-32, 8, 8, 8, 8)


def last_hand(
    places: tuple[int, ...],
    *,
    guard: int | None = 2,
    points: tuple[int, ...] = WON,
    players: tuple[PlayerId, ...] = PLAYERS,
    pays_tribute: bool = True,
) -> Previous:
    """Return the result of a last hand with emperor 0, who played alone if there is no guard."""
    solo = None if guard is not None else Solo.OPEN
    return Previous(players, 0, guard, solo, places, points, pays_tribute)


def counts(previous: Previous | None, *hands: str) -> list[tuple[int, int, int]]:
    """Return who paid whom how many, in order."""
    game = given("homy-qingdao", *(hands or HANDS), previous=previous)
    return [(paid.payer, paid.receiver, paid.count) for event in game.of(TributePaid) for paid in event.payments]


def test_fifth_pays_two_to_first_and_fourth_one_to_second() -> None:
    """TRIB-1: to the other side; all payments are made at once, before anything is returned."""
    game = given("homy-qingdao", *HANDS, previous=last_hand((0, 2, 4, 3, 1)))
    assert (game.hand.phase, game.hand.turn) == (Phase.TRIBUTE, 0)
    assert game.hand.hands == (
        cards("BJ* BJ 9c 9c 9c 3s 2s"),
        cards("9c 4c"),
        cards("SJ* SJ 8s 5c"),
        cards("2h 6c"),
        cards("Qs 7c"),
    )


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ((0, 1, 2, 3, 4), [(4, 0, 2)]),
        ((0, 1, 3, 4, 2), []),
        ((1, 0, 3, 4, 2), [(2, 1, 2), (4, 0, 1)]),
        ((1, 3, 4, 2, 0), [(0, 1, 2), (2, 3, 1)]),
        ((1, 3, 0, 2, 4), [(2, 3, 1)]),
    ],
)
def test_a_pair_on_one_side_pays_nothing(places: tuple[int, ...], expected: list[tuple[int, int, int]]) -> None:
    """TRIB-1: emperor 0 and guard 2 against 1, 3, 4; every seat here has enough to pay."""
    hands = ("BJ* 2c 2c 3s", "2s 2s 4c", "SJ* SJ 5c", "2h 2h 6c", "2d 2d 7c")
    assert counts(last_hand(places), *hands) == expected


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        (SOLO_WON, [(1, 0, 1), (2, 0, 1), (3, 0, 1), (4, 0, 1)]),
        (SOLO_LOST, [(0, 1, 1), (0, 2, 1), (0, 3, 1), (0, 4, 1)]),
    ],
)
def test_after_a_solo_each_opponent_pays_or_is_paid(
    points: tuple[int, ...], expected: list[tuple[int, int, int]]
) -> None:
    """TRIB-1: one card each, next seat first."""
    hands = ("BJ* BJ SJ 2c 2d 3s", "2s 4c", "SJ* 5c", "2h 6c", "BJ 7c")
    assert counts(last_hand((0, 1, 2, 3, 4), guard=None, points=points), *hands) == expected


def test_a_lost_solo_pays_from_the_top_down() -> None:
    """TRIB-1, TRIB-2: the next seat gets the highest: BJ, then SJ before SJ*, then 2c before 2d; never BJ*."""
    hands = ("BJ* BJ SJ SJ* 2d 2c 3s", "4c", "5c", "6c", "7c")
    previous = last_hand((1, 2, 3, 4, 0), guard=None, points=SOLO_LOST)
    game = given("homy-qingdao", *hands, previous=previous)
    paid = game.last(TributePaid).hidden
    assert paid is not None
    assert [payment.cards for payment in paid.payments] == [("BJ",), ("SJ",), ("SJ*",), ("2c",)]
    assert game.hand.turn == 1


@pytest.mark.parametrize(
    ("own", "paid"),
    [("BJ* SJ* SJ 2s", ("SJ", "SJ*")), ("BJ BJ SJ", ("BJ", "BJ")), ("2s 2c As", ("2c", "2s")), ("2s As Ks", ("2s",))],
)
def test_paid_are_the_highest_and_what_is_lacking_is_not_paid(own: str, paid: tuple[str, ...]) -> None:
    """TRIB-2: the payer's highest among BJ, SJ and SJ*, 2, never BJ*."""
    crown = "" if CROWN in own else "BJ* "
    game = given("homy-qingdao", f"{crown}3s 4s", own, "5s", "6s", "7s", previous=last_hand((0, 2, 4, 3, 1)))
    hidden = game.last(TributePaid).hidden
    assert hidden is not None
    assert hidden.payments[0].cards == paid


def test_who_has_nothing_to_pay_pays_nothing() -> None:
    """TRIB-2: and where nobody pays anything there is no tribute at all."""
    assert counts(last_hand((0, 2, 4, 3, 1)), "BJ* 3s", "As", "5s", "6s", "7s") == []
    game = given("homy-qingdao", "BJ* 3s", "As", "5s", "6s", "7s", previous=last_hand((0, 2, 4, 3, 1)))
    assert game.hand.phase is Phase.CROWN


def test_the_receivers_return_in_order_as_many_cards_as_they_got() -> None:
    """TRIB-1, TRIB-2: place 1 first, then place 2; then the crown is offered, to who holds it now."""
    game = given("homy-qingdao", *HANDS, previous=last_hand((0, 2, 4, 3, 1)))
    assert game.refused(2, give_back("5c")) is Refusal.NOT_YOUR_TURN
    game.when((0, give_back("3s 9c")))
    assert (game.hand.phase, game.hand.turn) == (Phase.TRIBUTE, 2)
    game.when((2, give_back("8s")))
    assert (game.hand.phase, game.hand.turn) == (Phase.CROWN, 0)
    assert game.hand.hands[1] == cards("3s 9c 9c 4c")
    assert game.hand.hands[3] == cards("8s 2h 6c")


@pytest.mark.parametrize(
    ("returned", "reason"),
    [
        ("Ks Kh", Refusal.NOT_YOUR_CARDS),
        ("3s", Refusal.NOT_ELIGIBLE),
        ("3s 9c 9c", Refusal.NOT_ELIGIBLE),
        ("", Refusal.NOT_ELIGIBLE),
        ("BJ* 3s", Refusal.NOT_ELIGIBLE),
        ("BJ 3s", Refusal.NOT_ELIGIBLE),
        ("2s 3s", Refusal.NOT_ELIGIBLE),
        ("9c 9c 9c 9c", Refusal.NOT_YOUR_CARDS),
    ],
)
def test_what_may_not_be_returned(returned: str, reason: Refusal) -> None:
    """TRIB-2: not BJ*, not one just received, exactly as many as received, and one's own."""
    game = given("homy-qingdao", *HANDS, previous=last_hand((0, 2, 4, 3, 1)))
    assert game.refused(0, give_back(returned)) is reason


def test_a_copy_one_already_had_may_go() -> None:
    """TRIB-2: just received is counted by card name."""
    hands = ("BJ* BJ 3s", "BJ 2s 4c", "5c", "6c", "7c")
    game = given("homy-qingdao", *hands, previous=last_hand((0, 2, 4, 3, 1)))
    assert game.refused(0, give_back("BJ BJ")) is Refusal.NOT_ELIGIBLE
    game.when((0, give_back("BJ 3s")))
    assert game.hand.hands[1] == cards("BJ 3s 4c")


def test_one_returns_what_he_can() -> None:
    """TRIB-2: as many as he can; a receiver who holds nothing else is not asked."""
    game = given("homy-qingdao", "BJ* 3s", "BJ 2s", "5s", "6s", "7s", previous=last_hand((0, 2, 4, 3, 1)))
    assert game.refused(0, give_back("3s BJ")) is Refusal.NOT_ELIGIBLE
    assert game.when((0, give_back("3s"))).hand.phase is Phase.CROWN
    nothing = given("homy-qingdao", "BJ*", "BJ 2s", "5s", "SJ 6s", "7s", previous=last_hand((0, 2, 4, 3, 1)))
    assert nothing.hand.turn == 2


def test_a_winning_solo_returns_to_each_payer_in_turn() -> None:
    """TRIB-1, TRIB-2: nothing received from anybody goes back to anybody."""
    hands = ("BJ* 3s 4s 5s 6s", "2s 4c", "2h 5c", "2d 6c", "2c 7c")
    previous = last_hand((0, 1, 2, 3, 4), guard=None, points=SOLO_WON)
    game = given("homy-qingdao", *hands, previous=previous)
    game.when((0, give_back("6s")))
    assert game.refused(0, give_back("2s")) is Refusal.NOT_ELIGIBLE
    game.when((0, give_back("5s")), (0, give_back("3s")), (0, give_back("4s")))
    assert [event.payer for event in game.of(TributeReturned)] == [1, 2, 3, 4]
    assert game.hand.hands[1:] == (cards("4c 6s"), cards("5c 5s"), cards("3s 6c"), cards("4s 7c"))
    assert game.hand.phase is Phase.CROWN


def test_time_out_returns_the_lowest_allowed() -> None:
    """Section 3, TIE-1: in TRIBUTE return the lowest cards allowed."""
    hands = ("BJ* 3s 3c 9s", "2s 2c 4c", "5s", "6s", "7s")
    game = given("homy-qingdao", *hands, previous=last_hand((0, 2, 4, 3, 1)))
    game.when((0, cmd.ExpireTurn(0)))
    hidden = game.last(TributeReturned).hidden
    assert hidden is not None
    assert hidden.cards == ("3c", "3s")
    assert game.last(TributeReturned).automatic


STRANGERS = (*PLAYERS[:4], PlayerId("a sixth"))


@pytest.mark.parametrize(
    "previous",
    [
        None,
        last_hand((0, 2, 4, 3, 1), points=(0, 0, 0, 0, 0)),
        last_hand((0, 2, 4, 3, 1), pays_tribute=False),
        last_hand((0, 2, 4, 3, 1), players=STRANGERS),
    ],
    ids=["first hand", "drawn", "surrendered or void", "other players"],
)
def test_no_tribute_without_a_last_hand_that_calls_for_it(previous: Previous | None) -> None:
    """TRIB-1: the same five players and a non-zero result."""
    assert given("homy-qingdao", *HANDS, previous=previous).hand.phase is Phase.CROWN


@pytest.mark.parametrize("ruleset", [name for name in RULESET_NAMES if name != "homy-qingdao"])
def test_no_tribute_elsewhere(ruleset: str) -> None:
    """Section 1, the row `tribute`."""
    assert given(ruleset, *HANDS, previous=last_hand((0, 2, 4, 3, 1))).hand.phase is Phase.CROWN


def test_players_who_changed_seats_pay_as_themselves() -> None:
    """TRIB-1: who was fifth pays, wherever he sits now."""
    moved = (PLAYERS[1], PLAYERS[0], *PLAYERS[2:])
    hands = ("BJ* 2c 2c", "2s 2s", "5s", "6s", "7s")
    previous = Previous(moved, 0, 2, None, (0, 2, 4, 3, 1), WON, pays_tribute=True)
    assert counts(previous, *hands) == [(0, 1, 2)]


def test_a_redeal_pays_no_tribute() -> None:
    """TRIB-1: the cards that were paid are gone with the deal."""
    hands = ("BJ* 3s", "2s 2h", "4s", "6s", "7s")
    game = given("homy-qingdao", *hands, previous=last_hand((0, 2, 4, 3, 1))).when((0, give_back("3s")))
    game.when(*((seat, YIELD) for seat in (0, 4, 3, 2, 1) * 2))
    assert game.hand.deal == 2
    assert game.hand.phase is Phase.CROWN
    assert len(game.of(TributePaid)) == 1


def test_only_payer_and_receiver_see_the_cards() -> None:
    """TRIB-2, TABLE-2: the public sees counts."""
    game = given("homy-qingdao", *HANDS, previous=last_hand((0, 2, 4, 3, 1)))
    game.when((0, give_back("3s 9c")))
    paid, returned = game.last(TributePaid), game.last(TributeReturned)
    for viewer in (None, 4):
        assert redact(paid, viewer, hand_over=False).hidden is None
    for viewer, pairs in ((0, {(1, 0)}), (1, {(1, 0)}), (2, {(3, 2)}), (3, {(3, 2)})):
        hidden = redact(paid, viewer, hand_over=False).hidden
        assert hidden is not None
        assert {(payment.payer, payment.receiver) for payment in hidden.payments} == pairs
    seen = [viewer for viewer in (None, 0, 1, 2, 3, 4) if redact(returned, viewer, hand_over=False).hidden]
    assert seen == [0, 1]
    masked = mask(game.table, 4).hand
    assert masked is not None
    assert {card for paid_cards in masked.tribute for card in paid_cards.cards} == {"??"}


def test_no_other_move_in_tribute() -> None:
    """Section 3: one seat is asked, for one thing."""
    game = given("homy-qingdao", *HANDS, previous=last_hand((0, 2, 4, 3, 1)))
    assert game.refused(0, PASS) is Refusal.WRONG_PHASE
    assert game.refused(0, YIELD) is Refusal.WRONG_PHASE
