"""Players' ratings, from the rating service when it answers in time."""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

import grpc
import structlog

from baohuang.client.credentials import Metadata
from baohuang.gen.rating.v1 import rating_service_pb2 as pb
from baohuang.gen.rating.v1 import rating_service_pb2_grpc
from baohuang.rules.state import PlayerId

WAIT_SECONDS: Final = 0.5
"""How long a round waits for ratings; who is not rated by then counts as a newcomer in it."""
_KEPT_SECONDS: Final = 60.0
_AGAIN_SECONDS: Final = 5.0
_AT_ONCE: Final = 32
_log = structlog.get_logger("matchmaking")


class Ratings(Protocol):
    """Tells how good players are."""

    async def of(self, players: Iterable[PlayerId]) -> Mapping[PlayerId, float]:
        """Return the ratings that are known, within WAIT_SECONDS; of others nothing."""


class NoRatings:
    """Everybody is a newcomer: without a rating service."""

    async def of(self, players: Iterable[PlayerId]) -> Mapping[PlayerId, float]:  # noqa: ARG002 (the protocol's)
        """See `Ratings.of`."""
        return {}


@dataclass(frozen=True, slots=True)
class _Known:
    rating: float | None
    until: float


class RatingsByCall:
    """Asks RatingService, and keeps what it said for a minute; what it did not say, for some seconds.

    Only of those who were asked for last anything is kept.
    """

    def __init__(
        self, channel: grpc.aio.Channel, metadata: Metadata, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._stub: Final = rating_service_pb2_grpc.RatingServiceStub(channel)
        self._metadata: Final = metadata
        self._monotonic: Final = monotonic
        self._known: dict[PlayerId, _Known] = {}
        self._room: Final = asyncio.Semaphore(_AT_ONCE)

    async def of(self, players: Iterable[PlayerId]) -> Mapping[PlayerId, float]:
        """See `Ratings.of`."""
        now, wanted = self._monotonic(), tuple(players)
        self._known = {one: known for one in wanted if (known := self._known.get(one)) and known.until > now}
        unknown = [player for player in wanted if player not in self._known]
        if unknown:
            await self._ask(unknown)
        return {one: known.rating for one, known in self._known.items() if known.rating is not None}

    async def _ask(self, players: list[PlayerId]) -> None:
        deadline = self._monotonic() + WAIT_SECONDS
        await asyncio.gather(*(self._ask_for(player, deadline) for player in players))
        silent = [player for player in players if self._known[player].rating is None]
        if silent:
            _log.warning("ratings not known", players=len(silent))

    async def _ask_for(self, player: PlayerId, deadline: float) -> None:
        request = pb.GetRatingRequest(player=player)
        async with self._room:
            left = max(deadline - self._monotonic(), 0)
            try:
                reply = await self._stub.GetRating(request, metadata=self._metadata, timeout=left)
            except grpc.aio.AioRpcError:
                self._known[player] = _Known(None, self._monotonic() + _AGAIN_SECONDS)
            else:
                self._known[player] = _Known(reply.rating.skill.mu, self._monotonic() + _KEPT_SECONDS)
