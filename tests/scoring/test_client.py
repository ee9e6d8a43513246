"""The SDK's clients of points and ratings: what the services hold, in types, over all pages."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import grpc
import pytest

from baohuang.client import (
    HOUSE,
    AccountName,
    DevelopmentIdentity,
    HandScored,
    MalformedError,
    NotAllowedError,
    NotFoundError,
    RatingClient,
    Result,
    ScoringClient,
    account_of,
)
from baohuang.rules.levels import level_of
from baohuang.rules.state import PlayerId, TableId
from baohuang.scoring.events import FinePosted
from client.in_process import HASTY
from rating.following import Ratings, points_after, standings_after
from rating_service.wiring import SERVICES as RATING_SERVICES
from rating_service.wiring import open_ratings
from rating_service.wiring import register as register_ratings
from scoring.following import Ledger
from scoring.recording import TABLES, Recorder
from scoring.serving import channel_to
from scoring_service.wiring import SERVICES, register

HANDS = 150
"""Enough for more entries of some player than a page has."""
PAGE = 50


@pytest.fixture
async def followed(recorder: Recorder, ledger: Ledger) -> Ledger:
    """Give a ledger that has some postings."""
    await recorder.record_some(HANDS)
    await ledger.follow()
    return ledger


@pytest.fixture
async def channel(followed: Ledger) -> AsyncIterator[grpc.aio.Channel]:
    """Give a channel to the scoring service."""
    async with channel_to(lambda server: register(server, followed.pool), *SERVICES) as opened:
        yield opened


async def test_scores_and_accounts_are_the_ledgers(channel: grpc.aio.Channel, followed: Ledger) -> None:
    """Each hand's score as published; each account's balance, and for its player all entries, newest first."""
    postings = await followed.postings()
    scores = ScoringClient(channel, DevelopmentIdentity(PlayerId("anybody")), HASTY)
    for posted in postings:
        if isinstance(posted, HandScored):
            assert await scores.hand_score(posted.table_id, posted.hand) == posted
    balances = await followed.balances()
    fines = [-posted.points for posted in postings if isinstance(posted, FinePosted)]
    assert (await scores.account(HOUSE)).balance == balances["house"] == sum(fines)
    longest = 0
    for player in points_after(postings):
        own = ScoringClient(channel, DevelopmentIdentity(player), HASTY)
        entries = [entry async for entry in own.entries(account_of(player))]
        account = await own.account(account_of(player))
        assert account.balance == balances[account_of(player)] == sum(entry.points for entry in entries)
        assert (account.entries, account.last_posting) == (len(entries), entries[0].posting)
        assert [entry.posting for entry in entries] == sorted((e.posting for e in entries), reverse=True)
        longest = max(longest, len(entries))
    assert longest > PAGE


async def test_refusals_are_typed(channel: grpc.aio.Channel) -> None:
    """A hand to come, another's entries, what is no account."""
    scores = ScoringClient(channel, DevelopmentIdentity(PlayerId("anybody")), HASTY)
    with pytest.raises(NotFoundError, match="NOT_SCORED"):
        await scores.hand_score(TableId(TABLES[0]), 999)
    with pytest.raises(NotAllowedError, match="PERMISSION_DENIED"):
        await anext(scores.entries(HOUSE))
    with pytest.raises(MalformedError) as malformed:
        await scores.account(AccountName("alice"))
    assert [violation.field for violation in malformed.value.violations] == ["account"]


async def test_ratings_follow_the_ledger(followed: Ledger, own_database_dsn: str) -> None:
    """Rating, level, changes and leaderboard of every player, as a computation from the postings has them."""
    postings = await followed.postings()
    async with AsyncExitStack() as stack:
        pool = await stack.enter_async_context(await open_ratings(own_database_dsn))
        await Ratings(pool).follow(postings)
        opened = channel_to(lambda server: register_ratings(server, pool), *RATING_SERVICES)
        channel = await stack.enter_async_context(opened)
        ratings = RatingClient(channel, DevelopmentIdentity(PlayerId("anybody")), HASTY)
        points, standings = points_after(postings), standings_after(postings)
        (season,) = {season for _, season in standings}
        for (player, _), standing in standings.items():
            rating = await ratings.rating(player, season=season)
            assert (rating.skill.mu, rating.skill.sigma) == (standing.skill.mu, standing.skill.sigma)
            assert (rating.hands, rating.won, rating.points) == (standing.hands, standing.won, points[player])
            assert (rating.level.number, rating.as_of_posting) == (level_of(points[player]).number, len(postings))
            own = RatingClient(channel, DevelopmentIdentity(player), HASTY)
            changes = [change async for change in own.changes(player, season=season)]
            assert changes[0].after == rating.skill
            assert [change.before for change in changes[:-1]] == [change.after for change in changes[1:]]
            assert sum(change.result is Result.WON for change in changes) == rating.won
        places = [place async for place in ratings.leaderboard(season=season)]
        assert {place.player for place in places} == {player for player, _ in standings}
        assert [place.skill.ordinal for place in places] == sorted((p.skill.ordinal for p in places), reverse=True)
