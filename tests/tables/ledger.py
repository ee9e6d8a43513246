"""What players asked, and everything they were answered: kept apart from the service, to be held against its log."""

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.protobuf.message import Message

from tables.clients import Client, Refused, refusal

Key = tuple[str, str]
"""A player and his request id."""


@dataclass(slots=True)
class Asked:
    """One request, however often it was sent, and what came back each time; `lost` counts answers not waited for."""

    player: str
    request: Any
    replies: list[Any] = field(default_factory=list)
    refusals: list[Refused] = field(default_factory=list)
    lost: int = 0

    @property
    def may_be_stored(self) -> bool:
        """Whether it may have been carried out without its player having been told."""
        return self.lost > 0 or any(one.code is grpc.StatusCode.UNAVAILABLE for one in self.refusals)


class Ledger:
    """All requests of all players, by their ids; more than one under an id if somebody used it again."""

    def __init__(self) -> None:
        self.asked: defaultdict[Key, list[Asked]] = defaultdict(list)

    async def ask(self, client: Client, request: Message, hang_up_after: int | None = None) -> None:
        """Send a request and note its answer; or hang up after so many moments, and note that."""
        asked = self._entry(client.player, request)
        call = client.start(asked.request)
        if hang_up_after is not None:
            for _ in range(hang_up_after):
                await asyncio.sleep(0)
            call.cancel()
        try:
            asked.replies.append(await call)
        except grpc.aio.AioRpcError as error:
            asked.refusals.append(refusal(error))
        except asyncio.CancelledError:
            if not call.cancelled():
                raise
            asked.lost += 1

    def of(self, player: str) -> list[Asked]:
        """Return all that a player asked."""
        return [one for (name, _), several in self.asked.items() if name == player for one in several]

    def _entry(self, player: str, request: Any) -> Asked:
        several = self.asked[player, request.request_id]
        for one in several:
            if one.request == request and type(one.request) is type(request):
                return one
        kept = type(request)()
        kept.CopyFrom(request)
        several.append(Asked(player, kept))
        return several[-1]
