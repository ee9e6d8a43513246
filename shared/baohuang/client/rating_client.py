"""A client of the rating service: skill, levels, leaderboards."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import Enum

import grpc

from baohuang.client.calls import Calls, channel_to
from baohuang.client.patience import Patience
from baohuang.client.requests import made
from baohuang.gen.rating.v1 import rating_service_pb2 as pb
from baohuang.gen.rating.v1 import rating_service_pb2_grpc
from baohuang.rpc.credentials import Credentials
from baohuang.rpc.messages import from_proto
from baohuang.rules.state import Instant, PlayerId, TableId
from baohuang.scoring.events import PostingNumber
from baohuang.tls.files import Tls


class Result(Enum):
    """How a hand went for a player (PTS-3)."""

    WON = "RESULT_WON"
    LOST = "RESULT_LOST"
    DRAWN = "RESULT_DRAWN"


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill as openskill has it: mean, standard deviation, and `mu - 3 * sigma`, by which leaderboards go."""

    mu: float
    sigma: float
    ordinal: float


@dataclass(frozen=True, slots=True)
class Level:
    """A level (LVL-1): 1 to 14, and its title."""

    number: int
    title: str


@dataclass(frozen=True, slots=True)
class Rating:
    """A player's rating in a season, and his level by all his points; see the message of this name."""

    player: PlayerId
    season: str
    skill: Skill
    hands: int
    won: int
    lost: int
    drawn: int
    points: int
    level: Level
    as_of_posting: PostingNumber


@dataclass(frozen=True, slots=True)
class RatingChange:
    """What one hand changed; see the message of this name."""

    posting: PostingNumber
    player: PlayerId
    season: str
    table_id: TableId
    hand: int
    finished_at: Instant
    result: Result
    points: int
    before: Skill
    after: Skill


@dataclass(frozen=True, slots=True)
class LeaderboardPlace:
    """A place on a leaderboard; who has the same ordinal has the same rank."""

    rank: int
    player: PlayerId
    skill: Skill
    hands: int
    won: int


class RatingClient:
    """Ratings as anybody may read them. Calls raise RefusedError and its kinds, UnreachableError, FaultError.

    A season is a quarter such as `2026Q4`.
    """

    def __init__(self, channel: grpc.aio.Channel, credentials: Credentials, patience: Patience | None = None) -> None:
        self._stub = rating_service_pb2_grpc.RatingServiceStub(channel)
        self._calls = Calls(credentials, patience)

    async def rating(self, player: PlayerId, *, season: str = "") -> Rating:
        """Return a player's rating and level; "": in the current season."""
        request = made(pb.GetRatingRequest, player=player, season=season)
        return from_proto((await self._calls.make(self._stub.GetRating, request)).rating, Rating)

    async def changes(self, player: PlayerId, *, season: str = "") -> AsyncIterator[RatingChange]:
        """Yield what changed a player's rating, newest first, page after page; "": in all seasons."""
        request = made(pb.ListRatingChangesRequest, player=player, season=season)
        async for page in self._calls.pages(self._stub.ListRatingChanges, request):
            for change in page.changes:
                yield from_proto(change, RatingChange)

    async def leaderboard(self, *, season: str = "") -> AsyncIterator[LeaderboardPlace]:
        """Yield the players of a season, best first, page after page; "": of the current one."""
        async for page in self._calls.pages(self._stub.ListLeaderboard, made(pb.ListLeaderboardRequest, season=season)):
            for place in page.places:
                yield from_proto(place, LeaderboardPlace)


@asynccontextmanager
async def connect_rating(
    address: str, credentials: Credentials, patience: Patience | None = None, *, tls: Tls | None = None
) -> AsyncIterator[RatingClient]:
    """Give a client of the rating service at "host:port" on a connection of its own, closed at exit.

    With `tls` over TLS. Raises CertificateError when its files are not sound.
    """
    async with channel_to(address, tls) as channel:
        yield RatingClient(channel, credentials, patience)
