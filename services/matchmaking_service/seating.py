"""The loop that opens the tables of matches: its own as they are formed, and any that another replica left lying.

Whatever comes back for a match decides what its players are: seated, or in the queue again with their old waiting time.
While that is not known the match stays, and is asked for again by whoever has its lease: by another replica at once if
the holder ends in order.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import chain
from typing import Final, Protocol, assert_never

import structlog

from baohuang.database.pool import FAILURES
from baohuang.metrics.bugs import Bugs
from baohuang.stream.working import ended, whole
from matchmaking_service.counts import SeatingCounts
from matchmaking_service.matches import Matches
from matchmaking_service.matching import PartyId
from matchmaking_service.noting import Noting, NotNoted, Seated
from matchmaking_service.opening import Opened, Outcome, RefusedTable, Unknown
from matchmaking_service.tickets import Formed, MatchId

AGAIN_SECONDS: Final = 1.0
"""After how long a match is tried again whose table service did not answer."""
FAULTS_BORNE: Final = 5
"""After so many tries that ended in a fault of the table service the match is set aside: its players are not queued
again, since they may sit at its table."""
_CLAIMED_AT_ONCE: Final = 50
_OPENED_AT_ONCE: Final = 50
"""Tables that are opened at one time cost less each."""
_CALLS: Final = 25
"""How many calls that open tables may be under way: what was left lying has one a match."""
_AFTER_A_BUG_SECONDS: Final = 5.0
"""For how long a replica that met a bug claims nothing: longer than another, which may be sound, takes to claim it."""
_PART: Final = "Seating"
_FINISHING_SECONDS: Final = 0.5
"""For how long tables that are being opened are waited for at the end."""
_log = structlog.get_logger("matchmaking")


class Opener(Protocol):
    """Opens tables."""

    async def open(self, matches: Sequence[Formed]) -> Sequence[Outcome]:
        """Open the tables of matches and return what came of each; one table, however often it is asked."""


class Seating:
    """Opens tables. `told` is called with parties that wait again or were set aside.

    A match over which it meets a bug is given back: another replica may be without it.
    """

    def __init__(
        self,
        matches: Matches,
        tables: Opener,
        noting: Noting,
        poll_seconds: float,
        told: Callable[[Sequence[PartyId]], None],
        *,
        bugs: Bugs,
    ) -> None:
        self._matches: Final = matches
        self._tables: Final = tables
        self._noting: Final = noting
        self._poll_seconds: Final = poll_seconds
        self._told: Final = told
        self._bugs: Final = bugs
        bugs.expect(_PART)
        self._own: list[Formed] = []
        self._in_hand: Final[set[MatchId]] = set()
        self._under_way: Final[dict[asyncio.Task[None], Sequence[Formed]]] = {}
        self._claim_at = 0.0
        self.counts: Final = SeatingCounts()
        self._poked: Final = asyncio.Event()
        self._room: Final = asyncio.Semaphore(_CALLS)

    def take(self, formed: Sequence[Formed]) -> None:
        """Take matches that were just formed here."""
        self._own += formed
        self._poked.set()

    async def run(self) -> None:
        """Run for ever."""
        try:
            while True:
                self._poked.clear()
                left = await self._claimed() if time.monotonic() >= self._claim_at else ()
                own, self._own = self._own, []
                for first in range(0, len(own), _OPENED_AT_ONCE):
                    self._begin(own[first : first + _OPENED_AT_ONCE])
                # What was left lying may be so for a fault of its own, which is nobody else's.
                for match in left:
                    self._begin((match,))
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._poked.wait(), self._poll_seconds)
        finally:
            await self._stopped()

    async def _stopped(self) -> None:
        """Finish what is as good as done, and give the rest up to whoever claims next; settled ones stay settled."""
        if self._under_way:
            await asyncio.wait([*self._under_way], timeout=_FINISHING_SECONDS)
        unfinished = {**self._under_way}
        await ended(unfinished)
        with suppress(*FAILURES):
            for match in chain(self._own, *unfinished.values()):
                await self._matches.leave(match, 0.0)

    def _begin(self, matches: Sequence[Formed]) -> None:
        """Seat matches beside the others, but none that is being seated: its lease ran out in our own hands then."""
        fresh = [match for match in matches if match.match_id not in self._in_hand]
        if not fresh:
            return
        self._in_hand.update(match.match_id for match in fresh)
        task = asyncio.create_task(self._seat(fresh), name="seating")
        self._under_way[task] = fresh
        task.add_done_callback(self._under_way.pop)

    async def _claimed(self) -> Sequence[Formed]:
        """Take what was left lying, as often as is polled and no more."""
        self._claim_at = time.monotonic() + self._poll_seconds
        try:
            return await whole(self._matches.claim(_CLAIMED_AT_ONCE))
        except FAILURES as error:
            _log.warning("no matches claimed", error=type(error).__name__)
            return ()

    async def _seat(self, matches: Sequence[Formed]) -> None:
        """Open tables, and settle each match once it is known what came of it."""
        try:
            async with self._room:
                outcomes = await self._tables.open(matches)
            await asyncio.gather(*map(self._settled, matches, outcomes))
        except Exception as error:  # noqa: BLE001 - matches must not be kept by who cannot seat them, whatever the bug
            await self._given_back(matches, error)
        finally:
            self._in_hand.difference_update(match.match_id for match in matches)

    async def _settled(self, match: Formed, outcome: Outcome) -> None:
        """Settle a match; what fails leaves it to whoever takes it when its lease is over."""
        try:
            await self._settle(match, outcome)
        except (*FAILURES, NotNoted) as error:
            _log.warning("match not settled", match_id=match.match_id, error=type(error).__name__)
        except Exception as error:  # noqa: BLE001 - as above, and the others are none the worse for it
            await self._given_back([match], error)

    async def _given_back(self, matches: Sequence[Formed], bug: Exception) -> None:
        """Leave matches to whoever claims them first, which for a while is not this replica."""
        self._bugs.met(_PART, bug, match_ids=[match.match_id for match in matches])
        self._claim_at = time.monotonic() + _AFTER_A_BUG_SECONDS
        self.counts.put_off += len(matches)
        with suppress(*FAILURES):
            for match in matches:
                await self._matches.leave(match, 0.0)

    async def _settle(self, match: Formed, outcome: Outcome) -> None:
        match outcome:
            case Opened(table_id):
                await self._noting.settled(Seated(match.match_id, table_id))
                self.counts.seated += 1
            case RefusedTable(reason, player, by_request):
                _log.warning("table refused", match_id=match.match_id, reason=reason, player=player)
                self._told(await self._matches.dissolved(match, reason, player, blame_all=by_request))
                self.counts.dissolved += 1
            case Unknown(why, fault) if fault and match.lease >= FAULTS_BORNE:
                _log.error("match set aside", match_id=match.match_id, why=why)
                self._told(await self._matches.dissolved(match, "INTERNAL", None, blame_all=True))
                self.counts.dissolved += 1
            case Unknown(why):
                _log.warning("table not opened yet", match_id=match.match_id, why=why)
                self.counts.put_off += 1
                await self._matches.leave(match, AGAIN_SECONDS)
            case _:
                assert_never(outcome)
