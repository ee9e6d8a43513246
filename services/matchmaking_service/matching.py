"""Who plays with whom: a pure function from the parties that wait to matches of five.

- Parties are matched within their queue: one ruleset, the same options.
- Who waited longest chooses first, and takes of those he may play with the ones who waited longest; he is passed over
  only if they cannot make five with him.
- A party stays together, and its rating is the mean of its players'.
- Whom he may play with: parties whose rating is within his window, which widens as he waits. It is that of who waited
  longer, so nobody who has just come can keep another waiting.
- The same parties in any order give the same matches.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Final, NewType

from baohuang.rules.deal import SEATS
from baohuang.rules.state import PlayerId

PartyId = NewType("PartyId", str)

NEWCOMERS_RATING: Final = 25.0
"""openskill's mean of a player nobody knows yet."""
WINDOW_AT_FIRST: Final = 4.0
"""How far ratings may be apart at once: about openskill's beta, 25/6, at which the better side wins three of four."""
WINDOW_PER_SECOND: Final = 0.25
"""By how much the window widens: after half a minute beginners meet all but the best."""
ANYBODY_AFTER_SECONDS: Final = 60.0
"""After so long a wait the window has no end."""
_UP_TO_FIVE: Final = (1 << SEATS + 1) - 1


@dataclass(frozen=True, slots=True, order=True)
class Queue:
    """Where parties wait: a ruleset's id, and options as canonical JSON, equal for equal options."""

    ruleset: str
    options: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A complete party that waits: one to five players, their mean rating, and for how many seconds they waited."""

    party_id: PartyId
    queue: Queue
    players: tuple[PlayerId, ...]
    rating: float
    waited: float
    bots: bool = False
    """Whether the queue's options allow bots."""

    @property
    def size(self) -> int:
        """How many players it is."""
        return len(self.players)


@dataclass(frozen=True, slots=True)
class Match:
    """Parties to be seated at one table, who waited longest first, and how many bots complete them."""

    queue: Queue
    parties: tuple[Candidate, ...]
    bots: int = 0

    @property
    def players(self) -> tuple[PlayerId, ...]:
        """The people of it: five less the bots."""
        return tuple(player for party in self.parties for player in party.players)


def matches_among(candidates: Iterable[Candidate], fill_with_bots_after: float = math.inf) -> Sequence[Match]:
    """Return the matches to make now, `fill_with_bots_after` being seconds that who allows bots waits for people."""
    ordered = sorted(candidates, key=lambda one: (one.queue, -one.waited, one.party_id))
    return [
        match
        for _, queue in groupby(ordered, attrgetter("queue"))
        for match in _matches_in(list(queue), fill_with_bots_after)
    ]


def window(waited: float) -> float:
    """Return how far another's rating may be from that of a party that waited so many seconds."""
    return math.inf if waited >= ANYBODY_AFTER_SECONDS else WINDOW_AT_FIRST + WINDOW_PER_SECOND * waited


def _matches_in(waiting: list[Candidate], fill_with_bots_after: float) -> Iterator[Match]:
    """Make the matches of one queue, whose parties come longest wait first."""
    while waiting:
        first, *others = waiting
        match = _match_for(first, others, fill_with_bots_after)
        taken = {party.party_id for party in match.parties} if match else {first.party_id}
        waiting = [party for party in others if party.party_id not in taken]
        if match:
            yield match


def _match_for(first: Candidate, others: Sequence[Candidate], fill_with_bots_after: float) -> Match | None:
    reach = window(first.waited)
    near = [one for one in others if abs(one.rating - first.rating) <= reach]
    wanted = SEATS - first.size
    may_fill = first.bots and first.waited >= fill_with_bots_after
    for bots in range(wanted + 1 if may_fill else 1):
        company = _company(near, wanted - bots)
        if company is not None:
            return Match(first.queue, (first, *company), bots)
    return None


def _company(near: Sequence[Candidate], wanted: int) -> Sequence[Candidate] | None:
    """Return parties of `wanted` players together, the first that can be had before all others; None if there are none.

    `sums[i]` has a bit for each number of players that parties from the i-th on can make together.
    """
    sums = [1]
    for party in reversed(near):
        sums.append((sums[-1] | sums[-1] << party.size) & _UP_TO_FIVE)
    sums.reverse()
    if not sums[0] >> wanted & 1:
        return None
    company = []
    for number, party in enumerate(near, start=1):
        if not wanted:
            break
        if party.size <= wanted and sums[number] >> (wanted - party.size) & 1:
            company.append(party)
            wanted -= party.size
    return company
