"""What comes of a hand: its score, the accounts, ratings and the leaderboard, as the services tell them."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Final, TypeVar

from baohuang.client import (
    HOUSE,
    Account,
    DevelopmentIdentity,
    HandScored,
    LeaderboardPlace,
    NotFoundError,
    Rating,
    RatingChange,
    RatingClient,
    ScoringClient,
    account_of,
    connect_rating,
    connect_scoring,
)
from baohuang.rules.events import HandFinished
from baohuang.rules.state import PlayerId
from command_line.demo.checking import CheckError
from command_line.demo.stage import HOST, Seen
from rating_service.standings import changes_by

_LOOK_SECONDS: Final = 0.01
_WITHIN_SECONDS: Final = 10.0
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Aftermath:
    """The hand's score, accounts, ratings and what changed them by seat, and the leaderboard.

    `score_seconds` and `rating_seconds` are how long after the end of the hand they were there, as a client saw it.
    """

    score: HandScored
    accounts: Sequence[Account]
    house: Account
    ratings: Sequence[Rating]
    changes: Sequence[RatingChange]
    places: Sequence[LeaderboardPlace]
    score_seconds: float
    rating_seconds: float


async def aftermath_of(seen: Seen, scoring_address: str, rating_address: str) -> Aftermath:
    """Ask for all of it as soon as it is there. Raises CheckError if it does not come, ClientError."""
    async with AsyncExitStack() as stack:
        host = DevelopmentIdentity(HOST)
        scores = await stack.enter_async_context(connect_scoring(scoring_address, host))
        ratings = await stack.enter_async_context(connect_rating(rating_address, host))
        score = await _awaited(lambda: _score_of(scores, seen), "the score of the hand")
        scored_at = time.monotonic()
        await _awaited(lambda: _rated(ratings, score), "ratings by the hand")
        rated_at = time.monotonic()
        players = [seat.player for seat in score.seats]
        return Aftermath(
            score,
            [await scores.account(account_of(player)) for player in players],
            await scores.account(HOUSE),
            [await ratings.rating(player) for player in players],
            [await _last_change(rating_address, player) for player in players],
            [place async for place in ratings.leaderboard()],
            scored_at - seen.ended_at,
            rated_at - seen.ended_at,
        )


def check_aftermath(finished: HandFinished, after: Aftermath) -> None:
    """Check that the ledger is the log's, its accounts balance, and ratings follow from it. Raises CheckError."""
    points = tuple(seat.points for seat in after.score.seats)
    if points != finished.points:
        raise CheckError(f"the ledger has points {points}, the log {finished.points}")
    balances = [account.balance for account in (*after.accounts, after.house)]
    if sum(balances):
        raise CheckError(f"the accounts {balances} do not sum to zero")
    expected = [(change.before, change.after.skill) for change in changes_by(after.score, {})]
    for (before, now), change in zip(expected, after.changes, strict=True):
        told = (change.before.mu, change.before.sigma, change.after.mu, change.after.sigma)
        if told != (before.mu, before.sigma, now.mu, now.sigma):
            raise CheckError(f"the rating of {change.player} does not follow from the score")
    _check_order(after.places, {change.player: change for change in after.changes})


def _check_order(places: Sequence[LeaderboardPlace], changes: Mapping[PlayerId, RatingChange]) -> None:
    ordinals = [changes[place.player].after.ordinal for place in places]
    if len(places) != len(changes) or ordinals != sorted(ordinals, reverse=True):
        raise CheckError("the leaderboard is not in the order of the ratings")


async def _awaited(look: Callable[[], Awaitable[T | None]], what: str) -> T:
    deadline = time.monotonic() + _WITHIN_SECONDS
    while (found := await look()) is None:
        if time.monotonic() > deadline:
            raise CheckError(f"{what} did not come within {_WITHIN_SECONDS:.0f} s")
        await asyncio.sleep(_LOOK_SECONDS)
    return found


async def _score_of(scores: ScoringClient, seen: Seen) -> HandScored | None:
    try:
        return await scores.hand_score(seen.table_id, 1)
    except NotFoundError:
        return None


async def _last_change(rating_address: str, player: PlayerId) -> RatingChange:
    """Ask in the player's own name, who alone may list what changed his rating."""
    async with connect_rating(rating_address, DevelopmentIdentity(player)) as ratings:
        return await anext(aiter(ratings.changes(player)))


async def _rated(ratings: RatingClient, score: HandScored) -> Rating | None:
    rating = await ratings.rating(score.seats[0].player)
    return rating if rating.as_of_posting >= score.posting else None
