"""RatingService: ratings, read."""

from typing import Any

import grpc

from baohuang.gen.rating.v1 import rating_service_pb2 as pb
from baohuang.gen.rating.v1 import rating_service_pb2_grpc
from baohuang.rpc.roles import check_own
from rating_service import api
from rating_service.boards import Boards

Context = grpc.aio.ServicerContext[Any, Any]


class RatingServicer(rating_service_pb2_grpc.RatingServiceServicer):
    """Serves the contract; see `baohuang/rating/v1/rating_service.proto` for what each call promises."""

    def __init__(self, boards: Boards) -> None:
        self._boards = boards

    async def GetRating(self, request: pb.GetRatingRequest, context: Context) -> pb.GetRatingResponse:
        """Return a player's rating."""
        player, season = api.player_in(request.player), api.season_in(request.season)
        rating = await self._boards.rating(player, season)
        return pb.GetRatingResponse(rating=api.rating_message(player, rating))

    async def BatchGetRatings(self, request: pb.BatchGetRatingsRequest, context: Context) -> pb.BatchGetRatingsResponse:
        """Return the ratings of many players."""
        players, season = api.players_in(request.players), api.season_in(request.season)
        ratings = await self._boards.ratings(players, season)
        return pb.BatchGetRatingsResponse(ratings=map(api.rating_message, players, ratings))

    async def ListRatingChanges(
        self, request: pb.ListRatingChangesRequest, context: Context
    ) -> pb.ListRatingChangesResponse:
        """Return a page of what changed a player's rating, to himself, operators and services."""
        check_own(request.player, "the changes of his own rating")
        player, season = api.player_in(request.player), api.season_in(request.season)
        before, size = api.changes_before(request)
        return api.changes_message(await self._boards.changes(player, season, before, size + 1), size)

    async def ListLeaderboard(self, request: pb.ListLeaderboardRequest, context: Context) -> pb.ListLeaderboardResponse:
        """Return a page of a leaderboard."""
        wanted, after, size = api.board_after(request)
        season = wanted or await self._boards.season_now()
        return api.board_message(season, await self._boards.leaderboard(season, after, size + 1), size)
