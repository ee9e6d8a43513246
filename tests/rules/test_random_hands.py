"""What holds in every hand of every ruleset, whoever plays and however badly: random hands, checked at each event.

Thinned hands have eight cards or so, dealt unevenly, so that rare courses (a hidden solo, a pasted-away hand) come
often; whole decks are dealt by seed through the table, hand after hand.
"""

from random import Random
from typing import Final, get_args

import pytest

from baohuang.rules import commands as cmd
from baohuang.rules.cards import JOKERS, PLAIN, Card, in_order
from baohuang.rules.events import Event, HandFinished, HandStarted, RedealOrdered, TableDissolved, TableEvent
from baohuang.rules.evolve import fold
from baohuang.rules.redact import Viewer
from baohuang.rules.refusals import RefusedError
from baohuang.rules.rulesets import Options
from baohuang.rules.state import ALL_SEATS, Phase, PlayerId, Previous, TableStatus, in_progress, seat_of
from bench.random_player import RandomPlayer, chance_of, illegal_line, mood_of, seating_line, standing_line
from rules.playing import OPERATOR, PLAYERS, RULESET_NAMES, Game, given_hands, given_table
from rules.witness import VIEWERS, Witness

VIEWED_HANDS: Final = 15
"""Thinned hands a variant in which every viewer's view is checked at every event but plays, two at each play."""
MORE_HANDS: Final = {True: 180, False: 60}
"""Thinned hands beside those, of a ruleset as it is and with options: cards, roles, folds and points are checked."""
WHOLE_TABLES: Final = 1
TABLES_BETWEEN_HANDS: Final = 30
SEATINGS: Final = 25
"""Things that happen at a table before its hand."""
MOST_DEALS: Final = 20
MOST_DECISIONS: Final = 3000
"""More than a hand of 216 cards can take: each trick plays a card, and has at most four passes after each play."""

_OURGAME_OPTIONS: Final = tuple(
    Options(short_deck=short_deck, hold6=short_deck and hold6, roast=roast, seize=seize)
    for short_deck, hold6, roast, seize in (
        (None, None, True, None), (True, True, None, None), (True, True, True, True), (None, None, True, False),
        (True, None, True, None),
    )
)  # fmt: skip
VARIANTS: Final = (
    *((ruleset, Options()) for ruleset in RULESET_NAMES),
    *((ruleset, options) for ruleset in ("ourgame-simple", "ourgame-classic") for options in _OURGAME_OPTIONS),
)
variants = pytest.mark.parametrize(
    ("ruleset", "options"), VARIANTS, ids=[f"{name}-{number}" for number, (name, _) in enumerate(VARIANTS)]
)


class Watched:
    """A game under a witness's eyes."""

    def __init__(self, game: Game, viewers: tuple[Viewer, ...] = VIEWERS) -> None:
        self.game = game
        self.witness = Witness(viewers)
        self.witness.decided(None, tuple(game.events), game.table)

    def act(self, seat: int, action: cmd.Action) -> None:
        """Let who sits there act, and the witness look at what came of it."""
        self.act_as(self.game.player_of(seat), action)

    def act_as(self, player: PlayerId, action: cmd.Action) -> None:
        """Let a player act, and the witness look at what came of it."""
        before = self.game.table
        self.witness.decided(before, self.game.act(player, action), self.game.table)

    def take_seats(self, chance: Random) -> None:
        """Sit, stand, get ready, take it back and let deadlines pass for a while; then all five sit and are ready."""
        for _ in range(SEATINGS):
            if in_progress(self.game.table):
                return
            self.game.wait(chance.choice((0, 30, 300)))
            seat, action = seating_line(self.game.table, chance)
            player = self.game.player_of(seat) or PLAYERS[seat]
            if isinstance(action, cmd.ExpireDeadline):
                self.game.at = max(self.game.at, action.due_at)
            try:
                self.act_as(player, action)
            except RefusedError:
                self.game.refused_to(player, action)
        if self.game.table.status is TableStatus.CLOSED:
            return
        for player in [player for player in PLAYERS if seat_of(self.game.table, player) is None]:
            free = next(seat for seat in ALL_SEATS if not self.game.table.seats[seat].player)
            self.act_as(player, cmd.SitDown(free))
        for seat in ALL_SEATS:
            if not in_progress(self.game.table):
                self.act(seat, cmd.SetReady(ready=True, entropy=str(chance.random())))

    def play_out(self, player: RandomPlayer, chance: Random, clumsiness: float, *, deals: int = MOST_DEALS) -> None:
        """Play until the hand is settled, or dealt anew more than `deals` times."""
        for _ in range(MOST_DECISIONS):
            if self.game.hand.phase is Phase.SETTLED or self.game.hand.deal > deals:
                return
            if chance.random() < clumsiness:
                self._stumble(chance)
            else:
                self.act(*player.line(self.game.table))
        raise AssertionError("the hand does not end")

    def _stumble(self, chance: Random) -> None:
        """Do what is forbidden, or may be; what is refused names its clause and changes nothing."""
        if chance.random() < 0.5:
            self.game.refused(*illegal_line(self.game.table, chance))
            return
        seat, action = standing_line(chance)
        try:
            self.act(seat, action)
        except RefusedError:
            self.game.refused(seat, action)


def thinned(ruleset: str, options: Options, chance: Random) -> Game:
    """Return a hand of some suited cards, four copies each, and the jokers, dealt to hands of any size."""
    suited = chance.sample(PLAIN[12:] if options.short_deck else PLAIN, chance.choice((4, 8, 12)))
    deck: list[Card] = [card for card in suited for _ in range(4)]
    deck += [JOKERS[0]] * 3 + [JOKERS[2]] * 3 + [JOKERS[1], JOKERS[3]]
    # Three each first, so that tribute leaves nobody without a card: no deal can. The rest singly or in fours.
    first = chance.sample(range(len(deck)), 15)
    hands = [[deck[index] for index in first[seat::5]] for seat in ALL_SEATS]
    rest = [card for index, card in enumerate(deck) if index not in first]
    weights = [chance.choice((1, 3, 5)) for _ in ALL_SEATS]
    at_once = chance.choice((1, 4))
    for number in range(0, len(rest), at_once):
        chance.choices(hands, weights)[0].extend(rest[number : number + at_once])
    return given_hands(
        ruleset,
        tuple(in_order(hand) for hand in hands),
        options=options,
        previous=_previous(chance) if chance.random() < 0.7 else None,
        name=f"thinned/{ruleset}/{chance.random()}",
    )


def _previous(chance: Random) -> Previous:
    emperor, guard = chance.sample(range(5), 2)
    points = [(24, -12), (-24, 12), (0, 0)][chance.randrange(3)]
    return Previous(
        players=PLAYERS,
        emperor=emperor,
        guard=guard,
        solo=None,
        places=tuple(chance.sample(range(5), 5)),
        points=tuple(points[0] if seat == emperor else points[1] for seat in range(5)),
        pays_tribute=True,
    )


def folds_alike(game: Game) -> None:
    """Folding from the first event, or from the last HandStarted, gives the table as it is."""
    last_start = max(index for index, event in enumerate(game.events) if isinstance(event, HandStarted))
    assert fold(game.events) == game.table
    assert fold(game.events[last_start:]) == game.table


def play_thinned(ruleset: str, options: Options, number: int, viewers: tuple[Viewer, ...]) -> Game:
    """Play the thinned hand of that number, every third one clumsily."""
    chance = chance_of("thinned", ruleset, options, number)
    watched = Watched(thinned(ruleset, options, chance), viewers)
    watched.play_out(RandomPlayer(chance, mood_of(chance)), chance, clumsiness=0.0 if number % 3 else 0.3, deals=1)
    folds_alike(watched.game)
    return watched.game


@variants
def test_thinned_hands_seen_by_everybody(ruleset: str, options: Options) -> None:
    """Every view is the fold of what its viewer was told, and tells no card and no role that is not his to know."""
    for number in range(VIEWED_HANDS):
        play_thinned(ruleset, options, number, VIEWERS)


@variants
def test_thinned_hands(ruleset: str, options: Options) -> None:
    """No card is made or lost, somebody can always act, roles show by the rules alone, points sum to zero, it ends."""
    as_it_is = options == Options()
    count = MORE_HANDS[as_it_is]
    games = [play_thinned(ruleset, options, VIEWED_HANDS + number, ()) for number in range(count)]
    settled = [game.last(HandFinished) for game in games if game.of(HandFinished)]
    assert len(settled) > count / 2
    assert sum(game.of(RedealOrdered) != [] for game in games) + len(settled) == count
    assert len({event.solo for event in settled}) == 3 or not as_it_is, "no hand was rare enough"


@variants
def test_whole_decks(ruleset: str, options: Options) -> None:
    """The same from the deal on, two hands at a table: the second is rebuilt from its own beginning alone."""
    for number in range(WHOLE_TABLES):
        chance = chance_of("whole", ruleset, options, number)
        watched = Watched(given_table(ruleset, options=options, name=f"whole/{ruleset}/{options}/{number}"))
        for clumsiness in (0.0, 0.05):
            for seat in ALL_SEATS:
                watched.act(seat, cmd.SetReady(ready=True, entropy=str(chance.random())))
            watched.play_out(RandomPlayer(chance, mood_of(chance)), chance, clumsiness)
            folds_alike(watched.game)
        assert len(watched.game.of(HandFinished)) == 2


def test_tables_between_hands() -> None:
    """Sitting, standing, getting ready, deadlines, an operator: every view is the fold, and the clock has what to do.

    Every kind of event of a table occurs, a hand begins on shuffled seats, and the table is rebuilt from there.
    """
    seen: set[type[Event]] = set()
    for number in range(TABLES_BETWEEN_HANDS):
        chance = chance_of("between hands", number)
        watched = Watched(given_table("ourgame-simple", name=f"between/{number}"))
        for _ in range(2):
            watched.take_seats(chance)
            if in_progress(watched.game.table):
                watched.act(0, cmd.VoidHand("enough"))
                folds_alike(watched.game)
        if number % 2 and watched.game.table.status is TableStatus.OPEN:
            watched.act_as(OPERATOR, cmd.CloseTable("enough"))
        assert fold(watched.game.events) == watched.game.table
        seen |= {type(event) for event in watched.game.events}
    assert set(get_args(TableEvent)) - seen == {TableDissolved}
