"""Matches in the database: formed of parties that wait, opened or dissolved, whichever replica does it.

A party belongs to one match at most, since it is put into one under its row's lock. A match is carried on by whoever
has its lease; opening is the same for all of them, dissolving only the holder may do.
"""

import secrets
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import structlog

from baohuang.database.pool import Connection, Pool
from baohuang.rules.bots import BOT_PREFIX
from baohuang.rules.rulesets import Options
from baohuang.rules.state import PlayerId
from matchmaking_service.matching import NEWCOMERS_RATING, Candidate, Match, PartyId, Queue
from matchmaking_service.queries import query
from matchmaking_service.tickets import Formed, MatchId, TicketState, options_if_readable, read_options, stored_options

LEASE_SECONDS: Final = 3.0
"""How long a replica has a match to itself, and so how long players of one that died wait for another."""
SEEN_OF_A_QUEUE: Final = 1_000
REFUSALS_BORNE: Final = 3
"""After so many matches that came to nothing for no known reason a party is set aside."""
UNREADABLE: Final = "INVALID_FIELD"
_EXPIRED_AT_ONCE: Final = 500

_CANDIDATES: Final = query("candidates")
_FORM: Final = query("form_matches")
_LOCK_WAITING: Final = query("lock_waiting")
_MEMBERS: Final = query("members")
_CLAIM: Final = query("claim_matches")
_LEAVE: Final = query("leave_match")
_DISSOLVED: Final = query("match_dissolved")
_LOCK_PARTIES: Final = query("lock_parties_of_match")
_BACK: Final = query("back_to_queue")
_COUNT_CHANGE: Final = query("count_change")
_CLOSE_PARTIES: Final = query("close_parties")
_CLOSE_TICKETS: Final = query("close_tickets")
_LOCK_LATE: Final = query("lock_late")
_log = structlog.get_logger("matchmaking")


@dataclass(frozen=True, slots=True)
class Waiting:
    """A complete party that waits, without the rating of its players."""

    party_id: PartyId
    queue: Queue
    players: tuple[PlayerId, ...]
    waited: float
    bots: bool

    def rated(self, ratings: Mapping[PlayerId, float]) -> Candidate:
        """Return it with the mean rating of its players."""
        known = [ratings.get(player, NEWCOMERS_RATING) for player in self.players]
        return Candidate(self.party_id, self.queue, self.players, sum(known) / len(known), self.waited, self.bots)


@dataclass(frozen=True, slots=True)
class Formation:
    """The matches that are committed, their parties, and the parties that turned out not to be there for others."""

    formed: Sequence[Formed]
    found: frozenset[PartyId]
    gone: frozenset[PartyId]


class Matches:
    """Forms, opens and dissolves. All of it raises what `pool.FAILURES` lists."""

    def __init__(self, pool: Pool) -> None:
        self._pool: Final = pool

    async def waiting(self) -> Sequence[Waiting]:
        """Return the parties that wait. One that is not as it should be is set aside, and keeps no other back."""
        rows = await self._pool.fetch(_CANDIDATES, SEEN_OF_A_QUEUE)
        found, unreadable = [], []
        for row in rows:
            try:
                found.append(_waiting(row))
            except ValueError:
                unreadable.append(row["party_id"])
        if unreadable:
            await self._set_aside(unreadable)
        return found

    async def form(self, matches: Sequence[Match]) -> Formation:
        """Commit those of the matches whose parties all still wait as they were, and are in nobody else's hands."""
        if not matches:
            return Formation((), frozenset(), frozenset())
        formed = [_formed(match) for match in matches]
        members = [
            (one.match_id, party.party_id, party.players)
            for one, match in zip(formed, matches, strict=True)
            for party in match.parties
        ]
        rows = await self._pool.fetch(_FORM, [_row(one) for one in formed], members, LEASE_SECONDS)
        gone = frozenset(PartyId(row["party_id"]) for row in rows)
        undone = {match_id for match_id, party_id, _ in members if party_id in gone}
        found = frozenset(party_id for match_id, party_id, _ in members if match_id not in undone)
        return Formation([one for one in formed if one.match_id not in undone], found, gone)

    async def claim(self, limit: int) -> Sequence[Formed]:
        """Take matches that nobody carries on any more. One that cannot be read is set aside."""
        found = []
        for row in await self._pool.fetch(_CLAIM, limit, LEASE_SECONDS):
            options = options_if_readable(row["options"])
            match = Formed(row["match_id"], row["ruleset"], options or Options(), tuple(row["players"]), row["lease"])
            if options is None:
                await self.dissolved(match, UNREADABLE, None, blame_all=True)
            else:
                found.append(match)
        return found

    async def leave(self, match: Formed, seconds: float) -> None:
        """Give a match up to whoever takes it after so many seconds."""
        await self._pool.execute(_LEAVE, match.match_id, match.lease, seconds)

    async def dissolved(
        self, match: Formed, reason: str, culprit: PlayerId | None, *, blame_all: bool
    ) -> Sequence[PartyId]:
        """Let the parties of a match wait on whose table was refused, but for those at fault, which are set aside.

        Gives those whose tickets changed: all, or none if the match is another's by now.
        """
        async with self._pool.acquire() as connection, connection.transaction():
            if not await connection.fetchval(_DISSOLVED, match.match_id, match.lease, reason):
                return ()
            rows = await connection.fetch(_LOCK_PARTIES, match.match_id)
            members = await _members(connection, [row["party_id"] for row in rows])
            for row in rows:
                party_id = row["party_id"]
                worn = culprit is None and row["refusals"] + 1 >= REFUSALS_BORNE
                if blame_all or worn or culprit in members[party_id]:
                    await _close(connection, [party_id], TicketState.SET_ASIDE, reason, culprit)
                else:
                    await connection.execute(_BACK, [party_id], int(culprit is None))
                    await connection.execute(_COUNT_CHANGE, [party_id])
            return [PartyId(row["party_id"]) for row in rows]

    async def expire(self, after_seconds: float) -> int:
        """Close open parties that are older than that and return how many they were."""
        async with self._pool.acquire() as connection, connection.transaction():
            late = [row["party_id"] for row in await connection.fetch(_LOCK_LATE, after_seconds, _EXPIRED_AT_ONCE)]
            if late:
                await _close(connection, late, TicketState.EXPIRED)
            return len(late)

    async def _set_aside(self, party_ids: Sequence[str]) -> None:
        _log.error("parties set aside: not whole, or their options cannot be read", parties=party_ids)
        async with self._pool.acquire() as connection, connection.transaction():
            locked = [row["party_id"] for row in await connection.fetch(_LOCK_WAITING, party_ids)]
            await _close(connection, locked, TicketState.SET_ASIDE, UNREADABLE)


async def _members(connection: Connection, party_ids: Sequence[str]) -> Mapping[str, tuple[PlayerId, ...]]:
    rows = await connection.fetch(_MEMBERS, party_ids)
    return {row["party_id"]: tuple(row["players"]) for row in rows}


def _formed(match: Match) -> Formed:
    match_id = MatchId(str(uuid.uuid4()))
    bots = [PlayerId(f"{BOT_PREFIX}{match_id[:8]}-{number}") for number in range(1, match.bots + 1)]
    players = [*match.players, *bots]
    # Friends are neighbours no more often than others, and nobody's wait gives him a seat.
    secrets.SystemRandom().shuffle(players)
    return Formed(match_id, match.queue.ruleset, read_options(match.queue.options.encode()), tuple(players), lease=1)


def _row(match: Formed) -> tuple[object, ...]:
    """Write a match as the composite type `wanted_match`."""
    return match.match_id, match.ruleset, stored_options(match.options), match.players


async def _close(
    connection: Connection,
    party_ids: Sequence[str],
    state: TicketState,
    reason: str | None = None,
    culprit: PlayerId | None = None,
) -> None:
    await connection.execute(_CLOSE_PARTIES, party_ids)
    await connection.execute(_CLOSE_TICKETS, party_ids, state.value, reason, culprit)


def _waiting(row: Any) -> Waiting:
    """Return the party of a row. Raises ValueError if it is not whole, or its options cannot be read."""
    players = tuple(row["players"] or ())
    if len(players) != row["size"]:
        raise ValueError(f"a party of {row['size']} has {len(players)} players")
    options = read_options(row["options"])
    queue = Queue(row["ruleset"], stored_options(options).decode())
    return Waiting(PartyId(row["party_id"]), queue, players, row["waited"], options.bots)
