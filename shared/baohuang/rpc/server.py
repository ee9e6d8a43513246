"""A gRPC server of this system: health, reflection, identity, rate limits, error mapping, orderly end.

server = RpcServer(settings, "127.0.0.1:0")
add_TableServiceServicer_to_server(TableApi(...), server.grpc)
port = await server.start("baohuang.table.v1.TableService")
...
await server.drain()
"""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Final

import grpc
import structlog
from google.protobuf import descriptor_pool
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from baohuang.metrics.bugs import Bugs
from baohuang.metrics.family import Metrics
from baohuang.rpc.auth import authenticator_for
from baohuang.rpc.bearer import BearerAuthenticator
from baohuang.rpc.call_counts import read_calls
from baohuang.rpc.health import Health
from baohuang.rpc.interceptor import CallInterceptor
from baohuang.rpc.keepalive import keepalive
from baohuang.rpc.key_counts import read_keys
from baohuang.rpc.key_ring import KeyRing
from baohuang.rpc.key_sources import source_of
from baohuang.rpc.rate_limit import RateLimit, RateLimiter
from baohuang.rpc.settings import ServerSettings
from baohuang.rpc.stream_limit import StreamLimiter
from baohuang.rpc.tokens import TokenPolicy
from baohuang.tls.counts import read_certificates
from baohuang.tls.server import server_credentials

if TYPE_CHECKING:
    from baohuang.metrics.endpoint import Endpoint

_SERVER_PING_MS = 30_000
_SERVER_PING_TIMEOUT_MS = 10_000
_HEALTH: Final = health_pb2.DESCRIPTOR.services_by_name["Health"].full_name
_ENDPOINT: Final = "baohuang.metrics.endpoint"
"""Imported where metrics are wanted alone: it costs the start of a process a tenth of a second."""


_log = structlog.get_logger("baohuang.rpc")


class ListenError(Exception):
    """The address cannot be listened on: taken by another process, or not ours."""


class RpcServer:
    """Assembles one server at `listen` ("host:port", port 0 for any). Servicers register on `grpc` before `start`.

    `limiter` counts calls and new streams; who serves commands on a stream counts each there. `streams` counts open
    streams; who serves watches on one counts each there. `bugs` counts what goes wrong beside calls. `probe_port` is
    the port that tells the health alone, and `endpoint` tells the `metrics`, once it is started and if they are wanted.
    Raises InsecureListenError when the settings ask for development identities on an address others can reach.
    """

    def __init__(self, settings: ServerSettings, listen: str) -> None:
        self._settings = settings
        self._listen = listen
        self._health = Health()
        self._keys = KeyRing(source_of(settings.jwks)) if settings.jwks else None
        self._refreshing: asyncio.Task[None] | None = None
        self._when_draining: list[Callable[[], None]] = []
        self.limiter = RateLimiter(RateLimit(settings.rate_limit_per_second, settings.rate_limit_burst))
        self.streams = StreamLimiter(settings.max_streams_per_player)
        policy = TokenPolicy(settings.jwt_audience, settings.jwt_issuer)
        tokens = BearerAuthenticator(self._keys, policy) if self._keys else None
        self._interceptor = CallInterceptor(
            authenticator_for(listen, insecure_dev=settings.insecure_dev, tokens=tokens),
            self.limiter,
            self.streams,
        )
        self.grpc = grpc.aio.server(interceptors=[self._interceptor], options=server_options(settings))
        self.metrics = Metrics()
        self.bugs = Bugs()
        self.metrics.add(self.bugs.read)
        self.metrics.add(partial(read_calls, self._interceptor.counts))
        self.metrics.add(partial(read_certificates, {"server": settings.server_tls, "client": settings.client_tls}))
        self.metrics.add(partial(read_keys, self._keys))
        self.endpoint: Endpoint | None = None
        self._probed = grpc.aio.server(options=server_options(settings)) if settings.probe_listen else None
        self.probe_port: int | None = None
        for server in (self.grpc, self._probed) if self._probed else (self.grpc,):
            health_pb2_grpc.add_HealthServicer_to_server(self._health, server)

    @property
    def stream_age_seconds(self) -> float:
        """The age at which a stream is to end itself, so that the next one may reach another replica."""
        return self._settings.max_connection_age_seconds

    async def start(self, *services: str) -> int:
        """Read the keys, listen and serve; `services` are the full names to report as SERVING. Gives the port.

        Raises KeysUnavailableError, CertificateError, ListenError; then, or cancelled, it listens nowhere.
        """
        try:
            return await self._started(services)
        except BaseException:
            await self._end(0.0)
            raise

    async def _started(self, services: Sequence[str]) -> int:
        if self._keys:
            await self._keys.refresh()
        self._interceptor.expect(chain.from_iterable(map(_methods, (*services, _HEALTH))))
        reflection.enable_server_reflection((*services, _HEALTH, reflection.SERVICE_NAME), self.grpc)
        tls = self._settings.server_tls
        port = _bound(self.grpc, self._listen, server_credentials(tls) if tls else None)
        await self.grpc.start()
        if self._probed and self._settings.probe_listen:
            self.probe_port = _bound(self._probed, self._settings.probe_listen, None)
            await self._probed.start()
        if self._settings.metrics_listen:
            self.endpoint = await asyncio.to_thread(_endpoint, self.metrics, self._settings.metrics_listen)
        if self._keys:
            self._refreshing = asyncio.create_task(self._keys.keep_fresh())
        for service in services:
            self._health.serves(service)
        return port

    def when_draining(self, send_away: Callable[[], None]) -> None:
        """Have this called when the server goes away: it tells those who watch to come back, to another one."""
        self._when_draining.append(send_away)

    async def drain(self) -> None:
        """Refuse new calls, report NOT_SERVING, send watchers away, let calls go on for the grace period, end the rest.

        In this order: who is sent away finds that this server is not to be come back to. For a moment calls that still
        arrive are told to go elsewhere; grpc itself would cancel those it has not yet handed to us, and the caller of
        a cancelled call cannot know that it was never begun.
        """
        self._interceptor.refuse_new_calls()
        try:
            self._health.goes()
            for send_away in self._when_draining:
                send_away()
            await asyncio.sleep(self._settings.refuse_seconds)
        finally:
            await self._end(self._settings.drain_grace_seconds)

    async def _end(self, grace_seconds: float) -> None:
        await self.grpc.stop(grace_seconds)
        if self._probed:
            await self._probed.stop(None)
        if self._refreshing:
            self._refreshing.cancel()
        if self.endpoint:
            await asyncio.to_thread(self.endpoint.close)


def _methods(service: str) -> list[str]:
    """Return the full names of a service's methods, as calls have them; none of one that no proto file describes."""
    try:
        described = descriptor_pool.Default().FindServiceByName(service)
    except KeyError:
        return []
    return [f"/{service}/{method.name}" for method in described.methods]


def _endpoint(metrics: Metrics, listen: str) -> "Endpoint":
    """Tell the metrics at "host:port". Raises ListenError."""
    host, _, port = listen.rpartition(":")
    try:
        endpoint: Endpoint = import_module(_ENDPOINT).Endpoint(metrics, host.strip("[]"), int(port))
    except (OSError, OverflowError, ValueError) as error:
        raise ListenError(f"cannot listen on {listen} for metrics: {error}") from error
    _log.info("metrics", address=f"{host}:{endpoint.port}")
    return endpoint


def _bound(server: grpc.aio.Server, listen: str, credentials: grpc.ServerCredentials | None) -> int:
    """Bind an address and give the port. Raises ListenError."""
    try:
        return server.add_secure_port(listen, credentials) if credentials else server.add_insecure_port(listen)
    except RuntimeError as error:  # what grpc raises for a failed bind; it has no class of its own
        raise ListenError(f"cannot listen on {listen}: the address is taken, or not of this machine") from error


def server_options(settings: ServerSettings) -> Sequence[tuple[str, int]]:
    """Give grpc's channel arguments for these settings."""
    return (
        # grpc's default is on: a second server would share the port unnoticed.
        ("grpc.so_reuseport", int(settings.share_port)),
        ("grpc.max_receive_message_length", settings.max_request_bytes),
        ("grpc.max_concurrent_streams", settings.max_concurrent_streams),
        ("grpc.max_connection_age_ms", round(settings.max_connection_age_seconds * 1000)),
        ("grpc.max_connection_age_grace_ms", round(settings.connection_grace_seconds * 1000)),
        # For idle streams and idle connections alike; a client that pings faster is cut off after two strikes.
        ("grpc.http2.min_ping_interval_without_data_ms", round(settings.min_ping_interval_seconds * 1000)),
        ("grpc.http2.max_ping_strikes", 2),
        ("grpc.keepalive_permit_without_calls", 1),
        # Ours find clients that vanished without a word.
        *keepalive(_SERVER_PING_MS, _SERVER_PING_TIMEOUT_MS),
    )
