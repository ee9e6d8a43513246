"""Finished hands and fines for tests, out of real play."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from baohuang.rules.events import FineReversed, HandFinished, PlayerFined, VoidReversed
from baohuang.rules.rulesets import RULESETS, Options
from baohuang.rules.state import FineReason, Instant, PlayerId, TableId
from bench.random_player import chance_of
from contract.random_play import play
from scoring_service.settling import Settles, Settling

AT = Instant("2026-11-30T08:05:09.000123Z")
PLAYERS = tuple(PlayerId(f"player-{n:02}") for n in range(12))


@cache
def settling_events(ruleset: str, seed: int, hands: int) -> tuple[Settles, ...]:
    """Return what a table's stream holds that points follow from, over some hands of players who play at random."""
    steps = play(ruleset, Options(), seed, hands)
    return tuple(event for step in steps for event in step.events if isinstance(event, Settles))


def finished_hands(seeds: range) -> Iterator[HandFinished]:
    """Give hands of all rulesets."""
    for ruleset in RULESETS:
        for seed in seeds:
            yield from (event for event in settling_events(ruleset, seed, 1) if isinstance(event, HandFinished))


@cache
def a_hand() -> HandFinished:
    """Return a hand with a guard that gave points."""
    return next(hand for hand in finished_hands(range(8)) if hand.guard is not None and any(hand.points))


def fined(
    player: str = "bo", points: int = -40, *, roles_settled: bool = True, reason: FineReason = FineReason.FORFEITED
) -> PlayerFined:
    """Return the fine of a player."""
    return PlayerFined(1, PlayerId(player), points, reason, roles_settled, "FINE-3", AT)


def void(hand: HandFinished) -> HandFinished:
    """Return the hand as it is when it is void, though it was played to its end (TRUST-4)."""
    return replace(hand, void=True, points=(0,) * 5, doublings=())


def void_reversed(hand: HandFinished, reverses: int = 8) -> VoidReversed:
    """Return what takes it back that the hand is void; `hand` is as it had been without."""
    assert hand.emperor is not None
    assert hand.options is not None
    return VoidReversed(
        hand.hand, reverses, "our fault", "RULE-1", AT, (reverses, reverses + 1), hand.places, hand.points,
        hand.emperor, hand.guard, hand.solo, hand.surrendered, hand.doublings, hand.players, hand.ruleset,
        hand.options, hand.open_guard, hand.revolt, hand.kicked,
    )  # fmt: skip


def fine_reversed(fine: PlayerFined, reverses: int = 8) -> FineReversed:
    """Return what takes the fine back."""
    return FineReversed(fine.seat, fine.player, -fine.points, reverses, "our fault", "RULE-1", AT, (reverses,))


def settling(event: Settles, table_id: str = "table", version: int = 9) -> Settling:
    """Place an event at a table."""
    return Settling(TableId(table_id), version, AT, event)


def some_hands(count: int, seed: int = 1) -> Iterator[Settles]:
    """Give hands of changing players, some of them void, and a fine now and then."""
    dice = chance_of("settling", seed)
    hands = list(finished_hands(range(3)))
    for _ in range(count):
        hand = replace(dice.choice(hands), players=tuple(dice.sample(PLAYERS, 5)))
        if dice.random() < 0.1:
            hand = void(hand)
        if dice.random() < 0.2:
            yield fined(dice.choice(hand.players))
        yield hand
