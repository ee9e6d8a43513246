"""The loop that forms matches: expire, look who waits, match, commit. What fails is left to the next round.

A round that has begun is finished, so that what it committed is handed on.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import structlog

from baohuang.database.pool import FAILURES
from baohuang.stream.working import whole
from matchmaking_service.counts import FormingCounts
from matchmaking_service.matches import Matches
from matchmaking_service.matching import Candidate, PartyId, matches_among
from matchmaking_service.ratings import Ratings
from matchmaking_service.tickets import Formed

_BETWEEN_SECONDS: Final = 0.1
"""Between rounds, so that a rush of tickets is looked at together and not one by one."""
_log = structlog.get_logger("matchmaking")


@dataclass(frozen=True, slots=True)
class Pace:
    """How long tickets last and those who allow bots wait for people; how often a replica looks. Seconds.

    `kept` is for how long it is remembered what was done, `purge` how often a replica looks for what is older.
    """

    ticket_lifetime: float = 600.0
    fill_with_bots_after: float = 30.0
    poll: float = 0.5
    kept: float = 30 * 86_400.0
    purge: float = 30.0


class Forming:
    """Forms matches, one round after another.

    Once they are committed it hands them to `take`, and tells whose parties they are of by `told`.
    """

    def __init__(
        self,
        matches: Matches,
        ratings: Ratings,
        pace: Pace,
        take: Callable[[Sequence[Formed]], None],
        told: Callable[[Iterable[PartyId]], None],
    ) -> None:
        self._matches: Final = matches
        self._ratings: Final = ratings
        self._pace: Final = pace
        self._take: Final = take
        self._told: Final = told
        self.counts: Final = FormingCounts()
        self._poked: Final = asyncio.Event()
        self._expire_at = 0.0

    def poke(self) -> None:
        """Have a round begin soon: somebody may have completed a match."""
        self._poked.set()

    async def run(self) -> None:
        """Run for ever."""
        while True:
            self._poked.clear()
            try:
                await whole(self.round())
            except FAILURES as error:
                _log.warning("no matches formed", error=type(error).__name__)
            await asyncio.sleep(_BETWEEN_SECONDS)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._poked.wait(), self._pace.poll)

    async def round(self) -> None:
        """Look at the queues once. Raises what `pool.FAILURES` lists."""
        await self._expire()
        waiting = await self._matches.waiting()
        self.counts.waiting = len(waiting)
        if not waiting:
            return
        ratings = await self._ratings.of([player for party in waiting for player in party.players])
        await self._form_all([party.rated(ratings) for party in waiting])

    async def _expire(self) -> None:
        """Close what is too old, as often as is polled and no more."""
        now = time.monotonic()
        if now >= self._expire_at:
            self._expire_at = now + self._pace.poll
            await self._matches.expire(self._pace.ticket_lifetime)

    async def _form_all(self, candidates: Sequence[Candidate]) -> None:
        """Form matches; without the parties that are gone or locked, and again, so that they keep nobody waiting."""
        while True:
            made = matches_among(candidates, self._pace.fill_with_bots_after)
            formation = await self._matches.form(made)
            self.counts.formed += len(formation.formed)
            self._take(formation.formed)
            self._told(formation.found)
            if not formation.gone:
                return
            whole = [match for match in made if formation.gone.isdisjoint(one.party_id for one in match.parties)]
            away = formation.gone | {one.party_id for match in whole for one in match.parties}
            candidates = [one for one in candidates if one.party_id not in away]
