"""Players who do anything the rules allow, and clumsy ones who also do what they forbid: the one such of all tests.

A player looks at a table as it is, or as it is masked for his seat. It stands in this package because benches run
without the rest of the tests.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Final

from baohuang.rules import commands as cmd
from baohuang.rules.cards import BIG, CROWN, SMALL, STRENGTH, SWORD, Card
from baohuang.rules.clock import deadline_of
from baohuang.rules.legal import cards_for, legal_shapes
from baohuang.rules.phases.asking import seats_to_act
from baohuang.rules.plays import Shape, shape_of
from baohuang.rules.rulesets import Guarding, Ruleset
from baohuang.rules.settlement import Solo
from baohuang.rules.state import ALL_SEATS, Answer, Hand, Phase, Table

Line = tuple[int, cmd.Action]
MoveLine = tuple[int, cmd.Move]
CardsOf = Callable[[Random, tuple[Card, ...], Shape], tuple[Card, ...]]
"""Gives cards of a hand that make a shape."""


def chance_of(*name: object) -> Random:
    """Return a source of chance that belongs to the name, the same on every run."""
    return Random(repr(name))  # noqa: S311 - to be the same on every run is the point


def any_cards(dice: Random, own: tuple[Card, ...], shape: Shape) -> tuple[Card, ...]:
    """Return cards of that shape, whichever: suits and marks decide roles, not plays."""
    picked = []
    for strength, count in ((shape.rank, shape.plain), (SMALL, shape.small), (BIG, shape.big)):
        picked += dice.sample([card for card in own if STRENGTH[card] == strength], count)
    return tuple(picked)


def first_cards(_dice: Random, own: tuple[Card, ...], shape: Shape) -> tuple[Card, ...]:
    """Return the cards that TIE-1 gives."""
    return cards_for(own, shape)


@dataclass(frozen=True, slots=True)
class Mood:
    """How likely players are to do what they are free to do: probabilities from 0 to 1."""

    yields: float = 0.5
    """Refuse the crown."""
    yields_again: float = 0.5
    """The same after a redeal."""
    open_solos: float = 0.0
    """Take the crown by open solo though there is something to call; with 0 never, not even for want of that."""
    seizes: float = 0.1
    declares: float = 1.0
    """Choose among the declarations, silence being one, instead of keeping silent."""
    surrenders: bool = False
    """Count surrender among the declarations; it ends the hand before its first play."""
    kicks: float = 0.5
    passes: float = 0.2
    """Pass with a play at hand."""
    of_plays: int | None = None
    """Of so many plays the largest is made; None: of all there are, which makes for short hands."""
    cards: CardsOf = any_cards


HASTY: Final = Mood()


def mood_of(dice: Random) -> Mood:
    """Draw a mood, so that courses which are rare with one are not rare among many."""
    yields = dice.choice((0.1, 0.5, 0.9, 1.0))
    declares = dice.choice((0.1, 0.5, 1.0))
    passes = dice.choice((0.05, 0.3, 0.6))
    return Mood(
        yields, 0.3, 0.1, declares / 10, declares, surrenders=True, kicks=declares / 2, passes=passes, of_plays=3
    )


class RandomPlayer:
    """All five players of a table. `listed` counts the legal plays they found themselves to have."""

    def __init__(self, dice: Random, mood: Mood = HASTY) -> None:
        self.listed = 0
        self._dice = dice
        self._mood = mood

    def line(self, table: Table) -> MoveLine:
        """Return a legal move of one of the seats that have to act."""
        assert table.hand is not None
        seat = self._dice.choice(seats_to_act(table.hand))
        return seat, self.move(table, seat)

    def move(self, table: Table, seat: int) -> cmd.Move:
        """Return a legal move of a seat that has to act."""
        assert table.hand is not None
        return self._moves[table.hand.phase](self, table.ruleset, table.hand, seat)

    def _returns(self, _: Ruleset, hand: Hand, seat: int) -> cmd.Move:
        due = next(paid for paid in hand.tribute if paid.receiver == seat and not paid.returned)
        own = list(hand.hands[seat])
        for card in [card for paid in hand.tribute if paid.receiver == seat for card in paid.cards]:
            own.remove(card)
        free = [card for card in own if card != CROWN]
        return cmd.ReturnTribute(tuple(self._dice.sample(free, min(len(free), len(due.cards)))))

    def _crowns(self, ruleset: Ruleset, hand: Hand, seat: int) -> cmd.Move:
        mood = self._mood
        if self._dice.random() < (mood.yields if hand.deal == 1 else mood.yields_again):
            return cmd.Yield()
        if ruleset.guarding is Guarding.SWORD_CARD:
            return cmd.Enthrone()
        if _callable(hand, seat) and self._dice.random() < 1 - mood.open_solos:
            return cmd.Enthrone()
        return cmd.DeclareOpenSolo() if mood.open_solos else cmd.Yield()

    def _seizes(self, _: Ruleset, _hand: Hand, _seat: int) -> cmd.Move:
        return cmd.AnswerSeize(Answer.SEIZE if self._dice.random() < self._mood.seizes else Answer.NONE)

    def _calls(self, _: Ruleset, hand: Hand, seat: int) -> cmd.Move:
        choices = _callable(hand, seat)
        if choices and self._dice.random() < 1 - self._mood.open_solos / 2:
            return cmd.CallCard(self._dice.choice(choices))
        return cmd.DeclareOpenSolo()

    def _declares(self, ruleset: Ruleset, hand: Hand, seat: int) -> cmd.Move:
        choices = possible_declarations(ruleset, hand, seat)
        if not self._mood.surrenders and Answer.SURRENDER in choices:
            choices.remove(Answer.SURRENDER)
        wanted = choices if self._dice.random() < self._mood.declares else [Answer.NONE]
        return cmd.Declare(self._dice.choice(wanted))

    def _kicks(self, _: Ruleset, hand: Hand, seat: int) -> cmd.Move:
        kicks = seat != hand.roles.guard and self._dice.random() < self._mood.kicks
        return cmd.AnswerKick(Answer.KICK if kicks else Answer.NONE)

    def _plays(self, ruleset: Ruleset, hand: Hand, seat: int) -> cmd.Move:
        own, on = hand.hands[seat], shape_of(hand.trick.cards)
        shapes = legal_shapes(own, on, ruleset.roast, ruleset.hold6)
        self.listed += len(shapes)
        if not shapes or (on is not None and self._dice.random() < self._mood.passes):
            return cmd.Pass()
        return cmd.Play(self._mood.cards(self._dice, own, self._shape(shapes)))

    def _shape(self, shapes: list[Shape]) -> Shape:
        if self._mood.of_plays is None:
            most = max(shape.size for shape in shapes)
            return self._dice.choice([shape for shape in shapes if shape.size == most])
        few = self._dice.sample(shapes, min(len(shapes), self._mood.of_plays))
        return max(few, key=lambda shape: shape.size)

    _moves: Final[dict[Phase, Callable[["RandomPlayer", Ruleset, Hand, int], cmd.Move]]] = {
        Phase.TRIBUTE: _returns,
        Phase.CROWN: _crowns,
        Phase.SEIZE: _seizes,
        Phase.CALL: _calls,
        Phase.DECLARE: _declares,
        Phase.KICK: _kicks,
        Phase.PLAY: _plays,
    }


def choose(table: Table, seat: int, dice: Random) -> cmd.Move:
    """Return a hasty player's legal move for a seat that has to act."""
    return RandomPlayer(dice).move(table, seat)


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
    if dice.random() < 0.01:
        return seat, cmd.VoidHand("no more of this")
    rare = dice.random() < 0.1
    cancel = cmd.CancelTrusteeship()
    actions = (
        (cmd.ForfeitSeat(), cmd.KickPlayer(seat))
        if rare
        else (cmd.RequestTrusteeship(), cancel, cancel, cancel, cmd.LeaveTable(), cmd.ExpireTurn(seat))
    )
    return seat, dice.choice(actions)


def seating_line(table: Table, dice: Random) -> Line:
    """Return something about who sits and who is ready, between hands, which may be refused or not."""
    actions = (cmd.SetReady(ready=True), cmd.SetReady(ready=False), cmd.StandUp(), cmd.SitDown(dice.choice(ALL_SEATS)))
    late = dice.random() < 0.1
    return dice.choice(ALL_SEATS), cmd.ExpireDeadline(deadline_of(table)) if late else dice.choice(actions)


def illegal_line(table: Table, dice: Random) -> MoveLine:
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


def _illegal_play(hand: Hand, seat: int, dice: Random) -> cmd.Move:
    own = hand.hands[seat]
    if hand.trick.player is None and dice.random() < 0.3:
        return cmd.Pass()
    ranks = {STRENGTH[card] for card in own if STRENGTH[card] < SMALL}
    if len(ranks) > 1:
        low, high = (next(card for card in own if STRENGTH[card] == rank) for rank in dice.sample(sorted(ranks), 2))
        return cmd.Play((low, high))
    missing = [card for card in STRENGTH if card not in own]
    return cmd.Play((dice.choice(missing),))


_VERBS: Final[tuple[cmd.Move, ...]] = (
    cmd.Enthrone(), cmd.Yield(), cmd.DeclareOpenSolo(), cmd.AnswerSeize(Answer.NONE), cmd.CallCard(Card("9s")),
    cmd.Declare(Answer.NONE), cmd.AnswerKick(Answer.NONE), cmd.ReturnTribute(()), cmd.Play((SWORD,)), cmd.Pass(),
)  # fmt: skip
_FITTING: Final[dict[Phase, tuple[type[cmd.Move], ...]]] = {
    Phase.TRIBUTE: (cmd.ReturnTribute,),
    Phase.CROWN: (cmd.Enthrone, cmd.Yield, cmd.DeclareOpenSolo),
    Phase.SEIZE: (cmd.AnswerSeize,),
    Phase.CALL: (cmd.CallCard, cmd.DeclareOpenSolo),
    Phase.DECLARE: (cmd.Declare,),
    Phase.KICK: (cmd.AnswerKick,),
    Phase.PLAY: (cmd.Play, cmd.Pass),
}


def _fits(verb: cmd.Move, phase: Phase) -> bool:
    return isinstance(verb, _FITTING[phase])


def _callable(hand: Hand, seat: int) -> list[Card]:
    """Return what the seat may call; of four if it can, which makes a hidden solo."""
    own = hand.hands[seat]
    fours = sorted({card for card in own if STRENGTH[card] < SMALL and own.count(card) == 4})
    return fours or sorted({card for card in own if STRENGTH[card] < SMALL and own.count(card) == 3})
