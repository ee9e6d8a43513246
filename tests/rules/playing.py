"""The language of these tests: given hands, when seats act, then the table and its events are so.

game = given("ourgame-simple", "BJ* 9s", "Ts 4c", "SJ* 8s", "Js 6c", "Qs 7c")
game.when((0, ENTHRONE)).quiet()
assert game.hand.turn == 0
assert game.refused(1, PASS) is Refusal.NOT_YOUR_TURN
"""

from hashlib import sha256
from typing import Final, TypeVar

import pytest

from baohuang.rules import commands as cmd
from baohuang.rules.cards import Card, in_order, parse_card, parse_cards
from baohuang.rules.clock import deadline_of, later
from baohuang.rules.decide import decide
from baohuang.rules.decision import Decision
from baohuang.rules.events import CardsDealt, Event, HandStarted, HiddenHands, SeatCards
from baohuang.rules.evolve import fold
from baohuang.rules.phases import course
from baohuang.rules.phases.asking import seats_to_act
from baohuang.rules.refusals import Refusal, RefusedError
from baohuang.rules.rulesets import RULESETS, Options, RulesetId
from baohuang.rules.state import (
    ALL_SEATS,
    SIMULTANEOUS,
    Answer,
    Hand,
    Instant,
    Phase,
    PlayerId,
    Previous,
    Table,
    TableId,
)

_E = TypeVar("_E", bound=Event)

AT: Final = Instant("2026-01-31T08:05:09.000123Z")
PLAYERS: Final = tuple(PlayerId(f"player-{seat}") for seat in ALL_SEATS)
OPERATOR: Final = PlayerId("operator")
CLOCK: Final = PlayerId("@clock")
RULESET_NAMES: Final = tuple(RULESETS)
SWORD_RULESETS: Final = ("homy-standard", "homy-weihai", "ourgame-simple")
CALLED_RULESETS: Final = ("homy-classic", "homy-qingdao", "ourgame-classic")

ENTHRONE: Final = cmd.Enthrone()
YIELD: Final = cmd.Yield()
OPEN_SOLO: Final = cmd.DeclareOpenSolo()
PASS: Final = cmd.Pass()
TRUSTEE: Final = cmd.RequestTrusteeship()
CANCEL: Final = cmd.CancelTrusteeship()
LEAVE: Final = cmd.LeaveTable()
FORFEIT: Final = cmd.ForfeitSeat()
SEIZE: Final = cmd.AnswerSeize(Answer.SEIZE)
NO_SEIZE: Final = cmd.AnswerSeize(Answer.NONE)
KICK: Final = cmd.AnswerKick(Answer.KICK)
NO_KICK: Final = cmd.AnswerKick(Answer.NONE)
NOTHING: Final = cmd.Declare(Answer.NONE)
OPEN_GUARD: Final = cmd.Declare(Answer.OPEN_GUARD)
GO_OPEN_SOLO: Final = cmd.Declare(Answer.OPEN_SOLO)
REVOLT: Final = cmd.Declare(Answer.REVOLT)
SURRENDER: Final = cmd.Declare(Answer.SURRENDER)
SAY_NOTHING: Final[dict[Phase, cmd.Action]] = {Phase.SEIZE: NO_SEIZE, Phase.DECLARE: NOTHING, Phase.KICK: NO_KICK}


def play(cards: str) -> cmd.Play:
    """Play the cards written so."""
    return cmd.Play(parse_cards(cards))


def call(card: str) -> cmd.CallCard:
    """Call the card written so."""
    return cmd.CallCard(parse_card(card))


def give_back(cards: str) -> cmd.ReturnTribute:
    """Return the cards written so."""
    return cmd.ReturnTribute(parse_cards(cards))


def cards(text: str) -> tuple[Card, ...]:
    """Return the cards in the order of hands."""
    return in_order(parse_cards(text))


def seed_of(name: str) -> str:
    """Return a seed, in hex, that belongs to the name."""
    return sha256(name.encode()).hexdigest()


class Game:
    """A table with its whole history, and a source of seeds that depends on nothing but its name."""

    def __init__(self, name: str, table: Table | None, events: tuple[Event, ...] = ()) -> None:
        self.name = name
        self.events = list(events)
        self.at = AT
        self._table = table
        self._commands = 0

    @property
    def table(self) -> Table:
        """The table as it is now."""
        assert self._table is not None
        return self._table

    @property
    def hand(self) -> Hand:
        """The hand as it is now."""
        assert self.table.hand is not None
        return self.table.hand

    def act(self, player: PlayerId, action: cmd.Action) -> tuple[Event, ...]:
        """Decide the player's command and return its events; what `decide` raises changes nothing."""
        self._commands += 1
        command = cmd.Command(player, action, self.at, seed_of(f"{self.name}/{self._commands}"))
        events, (*_, self._table) = decide(self._table, command)
        self.events += events
        return events

    def wait(self, seconds: int) -> "Game":
        """Let so much time pass, in which nothing happens."""
        self.at = later(self.at, seconds)
        return self

    def expire(self) -> "Game":
        """Let the time pass up to the table's next deadline, and the clock do what it does then."""
        self.at = max(self.at, deadline_of(self.table))
        self.act(CLOCK, cmd.ExpireDeadline(deadline_of(self.table)))
        return self

    def when(self, *lines: tuple[int, cmd.Action]) -> "Game":
        """Let seats act, one after the other."""
        for seat, action in lines:
            self.act(self.player_of(seat), action)
        return self

    def refused(self, seat: int, action: cmd.Action) -> Refusal:
        """Return why the seat's action is refused; it must be, by a clause, and change nothing."""
        return self.refused_to(self.player_of(seat), action)

    def refused_to(self, player: PlayerId, action: cmd.Action) -> Refusal:
        """Return why the player's action is refused; it must be, by a clause, and change nothing."""
        before, history = self._table, list(self.events)
        with pytest.raises(RefusedError) as caught:
            self.act(player, action)
        assert caught.value.rule
        assert (self._table, self.events) == (before, history)
        return caught.value.reason

    def player_of(self, seat: int) -> PlayerId:
        """Return who sits there."""
        return self.table.seats[seat].player

    def quiet(self) -> "Game":
        """Let every seat asked say nothing, in every simultaneous phase that is next."""
        while self.hand.phase in SIMULTANEOUS:
            for seat in seats_to_act(self.hand):
                self.when((seat, SAY_NOTHING[self.hand.phase]))
        return self

    def all_pass(self) -> "Game":
        """Let whoever has to act pass until the trick is over."""
        while self.hand.trick.cards:
            assert self.hand.turn is not None
            self.when((self.hand.turn, PASS))
        return self

    def of(self, kind: type[_E]) -> list[_E]:
        """Return the events of that kind so far."""
        return [event for event in self.events if isinstance(event, kind)]

    def last(self, kind: type[_E]) -> _E:
        """Return the last event of that kind."""
        return self.of(kind)[-1]


def given(ruleset: str, *hands: str, options: Options | None = None, previous: Previous | None = None) -> Game:
    """Return a game at its hand's first decision, the five hands by seat."""
    return given_hands(ruleset, tuple(map(cards, hands)), options=options, previous=previous)


def given_hands(
    ruleset: str,
    hands: tuple[tuple[Card, ...], ...],
    *,
    options: Options | None = None,
    previous: Previous | None = None,
    name: str = "given",
) -> Game:
    """Return a game at its hand's first decision, the five hands by seat, each in order."""
    started = HandStarted(
        hand=1,
        table_id=TableId("table"),
        ruleset=RulesetId(ruleset),
        options=options or Options(),
        opened_by=PLAYERS[0],
        players=PLAYERS,
        entropy=("",) * 5,
        dealer=0,
        previous=previous,
        commitment="",
        hidden=None,
    )
    dealt = CardsDealt(1, 0, tuple(map(len, hands)), HiddenHands(tuple(map(SeatCards, ALL_SEATS, hands))))
    decision = Decision(fold((started, dealt)), cmd.Command(PLAYERS[0], PASS, AT, seed_of(name)))
    course.begin(decision)
    course.advance(decision)
    return Game(name, decision.table, (started, dealt, *decision.events))


def given_table(ruleset: str, *, options: Options | None = None, name: str = "table") -> Game:
    """Return a game at a table just opened, its five players seated."""
    game = Game(name, None)
    game.act(OPERATOR, cmd.OpenTable(TableId(name), ruleset, options or Options()))
    for seat, player in enumerate(PLAYERS):
        game.act(player, cmd.SitDown(seat))
    return game


def given_deal(ruleset: str, *, options: Options | None = None, name: str = "table") -> Game:
    """Return a game at the first decision of its table's first hand, dealt from the whole deck."""
    return all_ready(given_table(ruleset, options=options, name=name))


def all_ready(game: Game) -> Game:
    """Get all five ready, each with entropy of his own."""
    for seat in ALL_SEATS:
        game.act(game.player_of(seat), cmd.SetReady(ready=True, entropy=f"entropy of {seat}"))
    return game
