"""A person's own cards and question, in lines. Pure."""

from collections.abc import Iterable
from itertools import groupby
from typing import Final

from baohuang.rules.cards import BIG, SMALL, STRENGTH, Card, in_order
from baohuang.rules.phases.asking import seats_to_act
from baohuang.rules.state import Hand, Phase, Table
from command_line.demo.words import called, faces

_QUESTIONS: Final = {
    Phase.TRIBUTE: "return tribute 还贡",
    Phase.CROWN: "take the crown 登基 (e) or yield it 让位 (y)",
    Phase.SEIZE: "seize the crown 抢独 (s) or not (n)",
    Phase.CALL: "call a card 叫保 (c 9h)",
    Phase.DECLARE: "declare something, or nothing (n)",
    Phase.KICK: "kick 踢 (k) or not (n)",
}


def grouped(cards: Iterable[Card]) -> str:
    """Write a hand low to high, a group a rank, marks shown: `333 4 99 SJ SJ* BJ*`."""
    groups = (tuple(same) for _, same in groupby(in_order(cards), key=STRENGTH.__getitem__))
    return "  ".join(_group(same) for same in groups)


def suited(cards: Iterable[Card]) -> str:
    """Write a hand's plain cards with their suits, a group a rank: `3:cch 9:ds`."""
    plain = (card for card in in_order(cards) if STRENGTH[card] < SMALL)
    groups = (tuple(same) for _, same in groupby(plain, key=STRENGTH.__getitem__))
    return "  ".join(f"{same[0][0]}:{''.join(card[1] for card in same)}" for same in groups)


def own_cards(hand: Hand, seat: int) -> list[str]:
    """Return the hand, with suits where they matter: for the crown, the call and the tribute."""
    cards = hand.hands[seat]
    lines = [f"your {len(cards)} cards: {grouped(cards)}"]
    if cards and hand.phase in {Phase.CROWN, Phase.CALL, Phase.TRIBUTE}:
        lines.append(f"by suit: {suited(cards)}")
    return lines


def question(table: Table, seat: int) -> str:
    """Return what the seat is asked now, "" if nothing."""
    hand = table.hand
    if hand is None or seat not in seats_to_act(hand):
        return ""
    if hand.phase is not Phase.PLAY:
        return _QUESTIONS.get(hand.phase, "")
    if hand.trick.player is None:
        return "you lead"
    return f"beat {faces(hand.trick.cards)} of {called(table, hand.trick.player)}, or pass (p)"


def _group(same: tuple[Card, ...]) -> str:
    return " ".join(same) if STRENGTH[same[0]] in {SMALL, BIG} else "".join(card[0] for card in same)
