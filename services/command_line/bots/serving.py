"""Plays for the bots at the tables of a table service; see `baohuang.rpc.process`.

It serves nothing but its health, and needs nothing of the service but what every player is given.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

import grpc

from baohuang.client import TableClient
from baohuang.client.calls import channel_to
from baohuang.metrics.bugs import Bugs
from baohuang.rpc.key_ring import KeysUnavailableError
from baohuang.rpc.process import announce, run
from baohuang.rpc.server import RpcServer
from baohuang.rules.state import PlayerId, TableId
from baohuang.stream.working import at_work
from command_line.bots.counts import read_looking
from command_line.bots.hosting import Hosting
from command_line.bots.runner import Bot
from command_line.bots.settings import BotsSettings
from command_line.development_key import DevelopmentKey, DevelopmentKeyError
from command_line.identities import Identify, by_key, by_own_word

NAME: Final = "bots"
LOBBY: Final = PlayerId("bots")
"""Who looks for tables; it plays at none."""
_CONNECTIONS: Final = 8
"""Over which the tables spread, and so over replicas; each carries a thousand streams."""

_AWAY_SECONDS: Final = 3.0
"""For how long a bot may owe its table a move before another process, that stands by, makes it."""


async def serve(settings: BotsSettings, stop: asyncio.Event) -> None:
    """Play until `stop` is set.

    Raises ListenError, InsecureListenError, KeysUnavailableError, OSError.
    """
    server = RpcServer(settings, settings.bots_listen)
    async with wired(server, settings):
        announce(settings.bots_listen, await server.start())
        await stop.wait()
        await server.drain()


@asynccontextmanager
async def wired(server: RpcServer, settings: BotsSettings) -> AsyncIterator[None]:
    """Play for as long as the block lasts, and have the server tell how it goes. Raises KeysUnavailableError."""
    async with hosting(settings, _identify(settings), server.bugs) as host, at_work(host, bugs=server.bugs):
        server.metrics.add(partial(read_looking, host.looking))
        yield


@asynccontextmanager
async def hosting(settings: BotsSettings, identify: Identify, bugs: Bugs) -> AsyncIterator[Hosting]:
    """Give what plays for the bots, each as it is identified, over connections that are closed at exit."""
    channels = [channel_to(settings.table_address, settings.client_tls) for _ in range(_CONNECTIONS)]

    def client(channel: grpc.aio.Channel, player: PlayerId) -> TableClient:
        return TableClient(channel, identify(player))

    def new_bot(table_id: TableId, player: PlayerId, seat: int) -> Bot:
        channel = channels[hash(table_id) % _CONNECTIONS]
        return Bot(client(channel, player), seat, think_seconds=settings.bots_think_seconds)

    try:
        still_seconds = settings.bots_think_seconds + _AWAY_SECONDS
        yield Hosting(client(channels[0], LOBBY), new_bot, settings.bots_look_seconds, still_seconds, bugs)
    finally:
        await asyncio.gather(*(channel.close(None) for channel in channels))


def _identify(settings: BotsSettings) -> Identify:
    """Return how the bots say who they are. Raises KeysUnavailableError."""
    if settings.bots_key is None:
        return by_own_word
    try:
        return by_key(DevelopmentKey.read(settings.bots_key, settings.jwt_issuer, settings.jwt_audience))
    except DevelopmentKeyError as error:
        raise KeysUnavailableError(f"the bots' key (BAOHUANG_BOTS_KEY): {error}") from error


def main() -> None:
    """Run the service."""
    run(NAME, BotsSettings, serve)
