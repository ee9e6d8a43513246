"""Whether cards were dealt as FAIR-1 has it: from what everybody knows once a hand is over.

The commitment was published before the players gave their entropy, the seed when the hand was over, and the shuffle is
documented in `baohuang.rules.deal`; so whoever has a hand's events, redacted for him or not, can deal it again. Pure.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from baohuang.rules import events as ev
from baohuang.rules.deal import SEED_BYTES, commitment_to, dealt, shuffled
from baohuang.rules.rulesets import ruleset_named, with_options


@dataclass(frozen=True, slots=True)
class WrongDeal:
    """A deal that is not what it should be: the version of the event that says so, and what is wrong."""

    version: int
    clause: str
    message: str


@dataclass(slots=True)
class _Deal:
    commitment: str
    version: int = 0
    cards: ev.CardsDealt | None = None


class DealAudit:
    """Follows a table's events from the first on, or from any SeedCommitted or HandStarted."""

    __slots__ = ("_deals", "_started")

    def __init__(self) -> None:
        self._started: ev.HandStarted | None = None
        self._deals: list[_Deal] = []

    def take(self, version: int, event: ev.Event) -> Iterator[WrongDeal]:
        """Take in the next event, and tell what is wrong with the deals of a hand that it ends."""
        match event:
            case ev.SeedCommitted(deal=1, commitment=commitment):
                self._started, self._deals = None, [_Deal(commitment)]
            case ev.SeedCommitted(commitment=commitment):
                self._deals.append(_Deal(commitment))
            case ev.HandStarted():
                yield from self._start(version, event)
            case ev.CardsDealt() if self._deals:
                self._deals[-1].version, self._deals[-1].cards = version, event
            case ev.HandFinished(seeds=seeds) if self._started:
                yield from self._finish(version, seeds)
            case _:
                pass

    def _start(self, version: int, started: ev.HandStarted) -> Iterator[WrongDeal]:
        if self._deals and self._deals[0].commitment != started.commitment:
            yield WrongDeal(version, "FAIR-1", "the hand is not begun by the commitment that was published for it")
        self._started, self._deals = started, [_Deal(started.commitment)]

    def _finish(self, version: int, seeds: tuple[str, ...]) -> Iterator[WrongDeal]:
        made = [deal for deal in self._deals if deal.cards]
        if len(seeds) != len(made):
            yield WrongDeal(version, "FAIR-1", f"{len(seeds)} seeds are opened, of {len(made)} deals")
            return
        for seed, deal in zip(seeds, made, strict=True):
            yield from self._check(version, seed, deal)

    def _check(self, version: int, text: str, deal: _Deal) -> Iterator[WrongDeal]:
        seed = _seed(text)
        if commitment_to(seed) != deal.commitment:
            yield WrongDeal(version, "FAIR-1", "the seed that is opened is not the one committed to")
            return
        started, cards = self._started, deal.cards
        if started is None or cards is None:
            return
        ruleset = with_options(ruleset_named(started.ruleset), started.options)
        hands = dealt(shuffled(ruleset.deck, seed, started.entropy), cards.dealer)
        if cards.dealer != started.dealer or cards.sizes != tuple(map(len, hands)):
            yield WrongDeal(deal.version, "DEAL-1", "the cards were not dealt from the dealer on, one at a time")
        for held in cards.hidden.hands if cards.hidden else ():
            if held.cards != hands[held.seat]:
                yield WrongDeal(deal.version, "FAIR-1", f"seat {held.seat} was not dealt what seed and entropy give")


def _seed(text: str) -> bytes:
    """Return the seed, empty for a text that is none."""
    try:
        seed = bytes.fromhex(text)
    except ValueError:
        return b""
    return seed if len(seed) == SEED_BYTES else b""
