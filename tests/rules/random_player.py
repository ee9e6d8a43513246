"""Players who do anything the rules allow, and clumsy ones who also do what they forbid."""

from collections.abc import Callable
from random import Random

from baohuang.rules import commands as cmd
from baohuang.rules.cards import CROWN, STRENGTH, SWORD, Card
from baohuang.rules.legal import legal_shapes
from baohuang.rules.phases.asking import seats_to_act
from baohuang.rules.plays import Shape, shape_of
from baohuang.rules.rulesets import Guarding, Ruleset
from baohuang.rules.settlement import Solo
from baohuang.rules.state import ALL_SEATS, Answer, Hand, Phase, Table
from rules.playing import CANCEL, ENTHRONE, FORFEIT, LEAVE, OPEN_SOLO, PASS, TRUSTEE, YIELD

Line = tuple[int, cmd.Action]


class RandomPlayer:
    """All five players of a table. Their moods are drawn once, so that rare courses of a hand are not rare here."""

    def __init__(self, dice: Random) -> None:
        self._dice = dice
        self._yields = dice.choice((0.1, 0.5, 0.9, 1.0))
        self._declares = dice.choice((0.1, 0.5, 1.0))
        self._passes = dice.choice((0.05, 0.3, 0.6))

    def line(self, table: Table) -> Line:
        """Return a legal move of one of the seats that have to act."""
        hand = table.hand
        assert hand is not None
        seat = self._dice.choice(seats_to_act(hand))
        return seat, self._moves[hand.phase](self, table.ruleset, hand, seat)

    def _returns(self, _: Ruleset, hand: Hand, seat: int) -> cmd.Action:
        due = next(paid for paid in hand.tribute if paid.receiver == seat and not paid.returned)
        own = list(hand.hands[seat])
        for card in [card for paid in hand.tribute if paid.receiver == seat for card in paid.cards]:
            own.remove(card)
        free = [card for card in own if card != CROWN]
        return cmd.ReturnTribute(tuple(self._dice.sample(free, min(len(free), len(due.cards)))))

    def _crowns(self, ruleset: Ruleset, hand: Hand, seat: int) -> cmd.Action:
        if self._dice.random() < (self._yields if hand.deal == 1 else 0.3):
            return YIELD
        if ruleset.guarding is Guarding.SWORD_CARD:
            return ENTHRONE
        return ENTHRONE if _callable(hand, seat) and self._dice.random() < 0.9 else OPEN_SOLO

    def _seizes(self, _: Ruleset, _hand: Hand, _seat: int) -> cmd.Action:
        return cmd.AnswerSeize(Answer.SEIZE if self._dice.random() < self._declares / 10 else Answer.NONE)

    def _calls(self, _: Ruleset, hand: Hand, seat: int) -> cmd.Action:
        choices = _callable(hand, seat)
        return cmd.CallCard(self._dice.choice(choices)) if choices and self._dice.random() < 0.95 else OPEN_SOLO

    def _declares_something(self, ruleset: Ruleset, hand: Hand, seat: int) -> cmd.Action:
        choices = possible_declarations(ruleset, hand, seat)
        wanted = choices if self._dice.random() < self._declares else [Answer.NONE]
        return cmd.Declare(self._dice.choice(wanted))

    def _kicks(self, _: Ruleset, hand: Hand, seat: int) -> cmd.Action:
        kicks = seat != hand.roles.guard and self._dice.random() < self._declares / 2
        return cmd.AnswerKick(Answer.KICK if kicks else Answer.NONE)

    def _plays(self, ruleset: Ruleset, hand: Hand, seat: int) -> cmd.Action:
        own, on = hand.hands[seat], shape_of(hand.trick.cards)
        shapes = legal_shapes(own, on, ruleset.roast, ruleset.hold6)
        if not shapes or (on is not None and self._dice.random() < self._passes):
            return PASS
        few = self._dice.sample(shapes, min(len(shapes), 3))
        return cmd.Play(self._any_cards(own, max(few, key=lambda shape: shape.size)))

    def _any_cards(self, own: tuple[Card, ...], shape: Shape) -> tuple[Card, ...]:
        """Return cards of that shape, whichever: suits and marks decide roles, not plays."""
        picked = []
        for strength, count in ((shape.rank, shape.plain), (13, shape.small), (14, shape.big)):
            picked += self._dice.sample([card for card in own if STRENGTH[card] == strength], count)
        return tuple(picked)

    _moves: dict[Phase, Callable[["RandomPlayer", Ruleset, Hand, int], cmd.Action]] = {  # noqa: RUF012 - never changed
        Phase.TRIBUTE: _returns,
        Phase.CROWN: _crowns,
        Phase.SEIZE: _seizes,
        Phase.CALL: _calls,
        Phase.DECLARE: _declares_something,
        Phase.KICK: _kicks,
        Phase.PLAY: _plays,
    }


def possible_declarations(ruleset: Ruleset, hand: Hand, seat: int) -> list[Answer]:
    """Return what the seat may answer in DECLARE, by DECL-1, 2, 3 and 5."""
    roles = hand.roles
    hidden_solo = seat == roles.emperor and roles.solo is Solo.HIDDEN
    choices = [Answer.NONE]
    if seat == roles.guard:
        choices.append(Answer.OPEN_GUARD)
    if hidden_solo and ruleset.guarding is Guarding.SWORD_CARD:
        choices.append(Answer.OPEN_SOLO)
    if hidden_solo and ruleset.surrender:
        choices.append(Answer.SURRENDER)
    if ruleset.revolt_threshold and seat not in {roles.emperor, roles.guard}:
        choices.append(Answer.REVOLT)
    return choices


def standing_line(dice: Random) -> Line:
    """Return something about who plays a seat, which may be refused or not."""
    seat = dice.choice(ALL_SEATS)
    rare = dice.random() < 0.1
    actions = (
        (FORFEIT, cmd.KickPlayer(seat)) if rare else (TRUSTEE, CANCEL, CANCEL, CANCEL, LEAVE, cmd.ExpireTurn(seat))
    )
    return seat, dice.choice(actions)


def illegal_line(table: Table, dice: Random) -> Line:
    """Return a move that the rules forbid now."""
    hand = table.hand
    assert hand is not None
    acting = seats_to_act(hand)
    others = [seat for seat in ALL_SEATS if seat not in acting]
    if others and dice.random() < 0.4:
        return dice.choice(others), dice.choice(_VERBS)
    seat = dice.choice(acting)
    if hand.phase is Phase.PLAY and dice.random() < 0.7:
        return seat, _illegal_play(hand, seat, dice)
    return seat, dice.choice([verb for verb in _VERBS if not _fits(verb, hand.phase)])


def _illegal_play(hand: Hand, seat: int, dice: Random) -> cmd.Action:
    own = hand.hands[seat]
    if hand.trick.player is None and dice.random() < 0.3:
        return PASS
    ranks = {STRENGTH[card] for card in own if STRENGTH[card] < 13}
    if len(ranks) > 1:
        low, high = (next(card for card in own if STRENGTH[card] == rank) for rank in dice.sample(sorted(ranks), 2))
        return cmd.Play((low, high))
    missing = [card for card in STRENGTH if card not in own]
    return cmd.Play((dice.choice(missing),))


_VERBS: tuple[cmd.Action, ...] = (
    ENTHRONE, YIELD, OPEN_SOLO, cmd.AnswerSeize(Answer.NONE), cmd.CallCard(Card("9s")), cmd.Declare(Answer.NONE),
    cmd.AnswerKick(Answer.NONE), cmd.ReturnTribute(()), cmd.Play((SWORD,)), PASS,
)  # fmt: skip
_FITTING: dict[Phase, tuple[type[cmd.Action], ...]] = {
    Phase.TRIBUTE: (cmd.ReturnTribute,),
    Phase.CROWN: (cmd.Enthrone, cmd.Yield, cmd.DeclareOpenSolo),
    Phase.SEIZE: (cmd.AnswerSeize,),
    Phase.CALL: (cmd.CallCard, cmd.DeclareOpenSolo),
    Phase.DECLARE: (cmd.Declare,),
    Phase.KICK: (cmd.AnswerKick,),
    Phase.PLAY: (cmd.Play, cmd.Pass),
}


def _fits(verb: cmd.Action, phase: Phase) -> bool:
    return isinstance(verb, _FITTING[phase])


def _callable(hand: Hand, seat: int) -> list[Card]:
    own = hand.hands[seat]
    fours = sorted({card for card in own if STRENGTH[card] < 13 and own.count(card) == 4})
    return fours or sorted({card for card in own if STRENGTH[card] < 13 and own.count(card) == 3})
