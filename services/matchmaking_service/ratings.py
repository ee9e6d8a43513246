"""Players' ratings, from the rating service when it answers in time."""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import grpc
import structlog

from baohuang.gen.rating.v1 import rating_service_pb2 as pb
from baohuang.gen.rating.v1 import rating_service_pb2_grpc
from baohuang.rpc.credentials import Metadata
from baohuang.rules.state import PlayerId

WAIT_SECONDS: Final = 0.5
"""How long a round waits for ratings; who is not rated by then counts as a newcomer in it."""
_KEPT_SECONDS: Final = 60.0
_AGAIN_SECONDS: Final = 5.0
_PLAYERS_A_CALL: Final = 500
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
    """Asks RatingService in one call for all whom a round has to know of.

    What it said is kept for a minute, that it did not answer for some seconds; only of those who were asked for last.
    """

    def __init__(
        self, channel: grpc.aio.Channel, metadata: Metadata, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._stub: Final = rating_service_pb2_grpc.RatingServiceStub(channel)
        self._metadata: Final = metadata
        self._monotonic: Final = monotonic
        self._known: dict[PlayerId, _Known] = {}

    async def of(self, players: Iterable[PlayerId]) -> Mapping[PlayerId, float]:
        """See `Ratings.of`."""
        now, wanted = self._monotonic(), tuple(players)
        self._known = {one: known for one in wanted if (known := self._known.get(one)) and known.until > now}
        unknown = [player for player in wanted if player not in self._known]
        if unknown:
            await self._ask(unknown)
        return {one: known.rating for one, known in self._known.items() if known.rating is not None}

    async def _ask(self, players: Sequence[PlayerId]) -> None:
        calls = [players[start : start + _PLAYERS_A_CALL] for start in range(0, len(players), _PLAYERS_A_CALL)]
        await asyncio.gather(*map(self._ask_for, calls))

    async def _ask_for(self, players: Sequence[PlayerId]) -> None:
        request = pb.BatchGetRatingsRequest(players=players)
        try:
            reply = await self._stub.BatchGetRatings(request, metadata=self._metadata, timeout=WAIT_SECONDS)
        except grpc.aio.AioRpcError as error:
            _log.warning("ratings not known", players=len(players), error=error.code().name)
            until = self._monotonic() + _AGAIN_SECONDS
            self._known.update({player: _Known(None, until) for player in players})
        else:
            until = self._monotonic() + _KEPT_SECONDS
            self._known.update({PlayerId(one.player): _Known(one.skill.mu, until) for one in reply.ratings})
