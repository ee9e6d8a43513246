"""Hands played by policies against the rules themselves, without a server: each sees its own masked table only."""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256

from baohuang.rules import commands as cmd
from baohuang.rules.decide import decide
from baohuang.rules.legal import cards_for, legal_shapes
from baohuang.rules.phases.asking import seats_to_act
from baohuang.rules.plays import shape_of
from baohuang.rules.redact import mask
from baohuang.rules.rulesets import Options
from baohuang.rules.state import ALL_SEATS, Hand, Instant, Phase, PlayerId, Table, TableId, in_progress
from command_line.bots.policy import choose

Policy = Callable[[Table, int], cmd.Move]

PLAYERS = tuple(PlayerId(f"player-{seat}") for seat in ALL_SEATS)
_AT = Instant("2026-01-31T08:05:09.000123Z")


@dataclass(frozen=True, slots=True)
class Decision:
    """A policy's decision: what its seat saw, and what it chose."""

    seen: Table
    seat: int
    move: cmd.Move


class Dealer:
    """A table of the rules, its deals given by a name."""

    def __init__(self, ruleset: str, name: str) -> None:
        self._name = name
        self._commands = 0
        self.table: Table | None = None
        self._act(PLAYERS[0], cmd.OpenTable(TableId(name), ruleset, Options()))
        for seat, player in enumerate(PLAYERS):
            self._act(player, cmd.SitDown(seat))

    def play(self, policies: Mapping[int, Policy]) -> Iterator[Decision]:
        """Play one hand, yielding each decision before it is made; an illegal one raises RefusedError."""
        for player in PLAYERS:
            self._act(player, cmd.SetReady(ready=True, entropy=player))
        while (table := self.table) is not None and in_progress(table):
            seat = seats_to_act(self.hand)[0]
            seen = mask(table, seat)
            decision = Decision(seen, seat, policies[seat](seen, seat))
            yield decision
            self._act(PLAYERS[seat], decision.move)

    @property
    def hand(self) -> Hand:
        """The hand as it is now."""
        assert self.table is not None
        assert self.table.hand is not None
        return self.table.hand

    def points(self) -> tuple[int, ...]:
        """Return the points of the finished hand."""
        assert self.hand.result is not None
        return self.hand.result.points

    def _act(self, player: PlayerId, action: cmd.Action) -> None:
        self._commands += 1
        seed = sha256(f"{self._name}/{self._commands}".encode()).hexdigest()
        _, (*_, self.table) = decide(self.table, cmd.Command(player, action, _AT, seed))


BOTS: Mapping[int, Policy] = dict.fromkeys(ALL_SEATS, choose)


def at_random(seed: int) -> Policy:
    """Return a policy that plays any legal set, or passes, but says before PLAY what the bots say."""
    dice = random.Random(seed)  # noqa: S311 - dice, no secrets

    def random_move(table: Table, seat: int) -> cmd.Move:
        hand = table.hand
        assert hand is not None
        if hand.phase is not Phase.PLAY:
            return choose(table, seat)
        own, on = hand.hands[seat], shape_of(hand.trick.cards)
        shapes = legal_shapes(own, on, table.ruleset.roast, table.ruleset.hold6)
        chosen = dice.choice([*shapes, None] if on else shapes)
        return cmd.Pass() if chosen is None else cmd.Play(cards_for(own, chosen))

    return random_move
