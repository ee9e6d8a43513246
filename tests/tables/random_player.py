"""A player who makes a random legal move from what his own seat may see."""

from random import Random

from baohuang.rules import commands as cmd
from baohuang.rules.cards import Card, identical
from baohuang.rules.legal import cards_for, legal_shapes
from baohuang.rules.phases.tribute import default_return
from baohuang.rules.plays import shape_of
from baohuang.rules.rulesets import Guarding, Ruleset
from baohuang.rules.settlement import Solo
from baohuang.rules.state import Answer, Hand, Phase, Roles, Table


def chance_of(name: object) -> Random:
    """Return a source of chance that is the same on every run."""
    return Random(repr(name))  # noqa: S311 - nothing here is a secret


def choose(table: Table, seat: int, chance: Random) -> cmd.Move:  # noqa: PLR0911 - one line a phase
    """Return a legal move of a seat that has to act; the table may be masked for that seat."""
    hand = table.hand
    assert hand is not None
    match hand.phase:
        case Phase.TRIBUTE:
            return cmd.ReturnTribute(default_return(hand, seat))
        case Phase.CROWN:
            return _at_the_crown(table.ruleset, hand, seat, chance)
        case Phase.SEIZE:
            return cmd.AnswerSeize(chance.choices((Answer.NONE, Answer.SEIZE), (9, 1))[0])
        case Phase.CALL:
            return cmd.CallCard(chance.choice(_callable(hand, seat)))
        case Phase.DECLARE:
            return cmd.Declare(chance.choice(_declarations(table.ruleset, hand.roles, seat)))
        case Phase.KICK:
            guard = seat == hand.roles.guard
            return cmd.AnswerKick(Answer.NONE if guard else chance.choice((Answer.NONE, Answer.KICK)))
        case Phase.PLAY:
            return _in_play(table.ruleset, hand, seat, chance)
        case other:
            raise AssertionError(f"nobody acts in {other.name}")


def _callable(hand: Hand, seat: int) -> list[Card]:
    own = hand.hands[seat]
    return [*identical(own, 3), *identical(own, 4)]


def _at_the_crown(ruleset: Ruleset, hand: Hand, seat: int, chance: Random) -> cmd.Move:
    if ruleset.guarding is Guarding.CALLED_CARD and not _callable(hand, seat):
        return cmd.Yield()
    return chance.choice((cmd.Enthrone(), cmd.Yield()))


def _declarations(ruleset: Ruleset, roles: Roles, seat: int) -> list[Answer]:
    """Return what the seat may declare, by what it knows: whether it is emperor, hidden solo or guard."""
    if seat == roles.guard:
        return [Answer.NONE, Answer.OPEN_GUARD]
    if seat == roles.emperor:
        solo = roles.solo is Solo.HIDDEN and ruleset.guarding is Guarding.SWORD_CARD
        return [Answer.NONE, Answer.OPEN_SOLO] if solo else [Answer.NONE]
    return [Answer.NONE, Answer.REVOLT] if ruleset.revolt_threshold else [Answer.NONE]


def _in_play(ruleset: Ruleset, hand: Hand, seat: int, chance: Random) -> cmd.Move:
    own, on = hand.hands[seat], shape_of(hand.trick.cards)
    shapes = sorted(legal_shapes(own, on, ruleset.roast, ruleset.hold6), key=lambda shape: (shape.size, str(shape)))
    if not shapes or (on is not None and chance.random() < 0.2):
        return cmd.Pass()
    longest = shapes[-1].size
    return cmd.Play(cards_for(own, chance.choice([shape for shape in shapes if shape.size == longest])))
