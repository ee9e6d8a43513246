"""The whole backend on this machine, as one async context manager: PostgreSQL, NATS, migrations, services.

    async with LocalBackend(BackendOptions(Path(".baohuang"), beside=BESIDE_TABLES)) as backend:
        channel = grpc.aio.insecure_channel(backend.table.address)

PostgreSQL and NATS are started side by side, then the services are; stopped in the opposite order, also when a start
fails half way. Started again on the same folder it finds everything.
"""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Final, Self, TypeVar

from baohuang.embedded.account import passable_folder
from baohuang.embedded.errors import PortTaken, ServerDied
from baohuang.embedded.lock import FolderLock
from baohuang.embedded.nats import EmbeddedNats
from baohuang.embedded.ports import LOOPBACK, is_free, kept_port, note_port, noted_port
from baohuang.embedded.postgres import EmbeddedPostgres
from baohuang.embedded.server import EmbeddedServer
from baohuang.stream.permissions import NatsUser
from command_line.development_key import DevelopmentKey
from command_line.service_process import ServiceProcess, stop_service_left_in
from command_line.services import RATING, SCORING, TABLE, Service
from command_line.supervision import KeptServer, Process
from command_line.surroundings import BackendOptions, Surroundings

T = TypeVar("T")
_SERVERS: Final = (EmbeddedPostgres.name, EmbeddedNats.name)
_ON_NATS: Final = MappingProxyType({TABLE: NatsUser.TABLE, SCORING: NatsUser.SCORING, RATING: NatsUser.RATING})
"""Who uses NATS, as which of its users."""
_MIGRATING: Final = "command_line.migrating"
"""Imported while PostgreSQL starts: it costs half a second, and nothing else needs it."""


class MigrationError(Exception):
    """The database cannot be reached, or its schema cannot be brought up to date."""


class LocalBackend:
    """The running backend. Its attributes are there between entry and exit."""

    postgres_dsn: str
    nats_url: str
    tables: Sequence[ServiceProcess]
    """The replicas of the table service; they share one address."""
    beside: Mapping[Service, ServiceProcess]
    """The services beside it, as the options have them."""

    def __init__(self, options: BackendOptions) -> None:
        self._options = options
        self._resources = AsyncExitStack()
        self._servers: list[KeptServer] = []
        self._nats_urls: Mapping[Service, str] = {}
        self.metrics: dict[str, str] = {}
        """Where each replica tells its metrics, "host:port" by its name; empty if none is to."""

    async def __aenter__(self) -> Self:
        """Start everything.

        Raises EmbeddedServerError (DataFolderInUse, ServerDied, ...), MigrationError, DevelopmentKeyError.
        """
        try:
            await self._start()
        except BaseException:
            await self._resources.aclose()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self._resources.aclose()

    @property
    def table(self) -> ServiceProcess:
        """The table service; the first replica where there are several."""
        return self.tables[0]

    @property
    def services(self) -> Sequence[ServiceProcess]:
        """All services: the replicas of the table service, then those beside it."""
        return (*self.tables, *self.beside.values())

    @property
    def processes(self) -> Sequence[Process]:
        """All that runs, in the order in which it was started."""
        return (*self._servers, *self.services)

    async def first_death(self) -> ServerDied:
        """Wait until one of the processes ends by itself, and tell which and how."""
        children = [process.child for process in self.processes]
        waits = {asyncio.ensure_future(child.wait()): child for child in children}
        try:
            done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        return waits[done.pop()].died()

    async def _start(self) -> None:
        options, data_dir = self._options, self._options.data_dir
        data_dir.mkdir(parents=True, exist_ok=True)
        self._resources.enter_context(FolderLock(data_dir))
        if options.jwks is None:
            DevelopmentKey.made_or_found(data_dir)
        importing = asyncio.create_task(asyncio.to_thread(import_module, _MIGRATING))
        self.postgres_dsn, self.nats_url = await side_by_side(self._postgres(), self._nats())
        await asyncio.to_thread((await importing).migrate_all, self.postgres_dsn, options.beside)
        await self._start_services()

    async def _postgres(self) -> str:
        return self._options.postgres_dsn or await self._embed(EmbeddedPostgres(self._options.data_dir))

    async def _nats(self) -> str:
        if self._options.nats_url is not None:
            self._nats_urls = dict.fromkeys(_ON_NATS, self._options.nats_url)
            return self._options.nats_url
        server = EmbeddedNats(self._options.data_dir)
        url = await self._embed(server)
        self._nats_urls = {service: server.url_of(user) for service, user in _ON_NATS.items()}
        return url

    async def _embed(self, server: EmbeddedServer) -> str:
        kept = KeptServer(server, await self._resources.enter_async_context(server))
        self._servers = sorted((*self._servers, kept), key=lambda one: _SERVERS.index(one.name))
        return kept.url

    async def _start_services(self) -> None:
        """Start them side by side, each on a port that is known to the others before."""
        options, data_dir = self._options, self._options.data_dir
        ports = {TABLE: await _port_of(TABLE, data_dir, options.table_port)}
        for service in options.beside:
            ports[service] = await _port_of(service, data_dir)
        addresses = {service: f"{LOOPBACK}:{port}" for service, port in ports.items()}
        around = Surroundings(options, self.postgres_dsn, self._nats_urls, addresses)

        def process(replica: Service, service: Service) -> ServiceProcess:
            # Told in any case: one address in our own environment would be all replicas' at once.
            named = {"BAOHUANG_REPLICA": replica.name, "BAOHUANG_METRICS_LISTEN": self._metrics_of(replica)}
            environment = {**around.environment_of(service), **named}
            return ServiceProcess(replica, data_dir, environment, ports[service])

        self.tables = [process(replica, TABLE) for replica in _replicas(TABLE, options.table_replicas)]
        self.beside = {service: process(service, service) for service in options.beside}
        self._resources.push_async_callback(self._stop_services)
        await side_by_side(*(service.start() for service in self.services))

    def _metrics_of(self, replica: Service) -> str:
        """Give the address where a replica is to tell its metrics, kept from start to start; "" if it is not to."""
        if not self._options.metrics:
            return ""
        home = passable_folder(passable_folder(self._options.data_dir.resolve() / replica.name) / "metrics")
        self.metrics[replica.name] = f"{LOOPBACK}:{kept_port(home)}"
        return self.metrics[replica.name]

    async def _stop_services(self) -> None:
        await side_by_side(*(service.stop() for service in self.services))


async def side_by_side(*coroutines: Coroutine[None, None, T]) -> list[T]:
    """Return what comes of them, once all have ended; or raise the first error among them in their order."""
    outcomes = await asyncio.gather(*coroutines, return_exceptions=True)
    results = []
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
        results.append(outcome)
    return results


def _replicas(service: Service, count: int) -> Sequence[Service]:
    """Give the service its replicas, numbered where there are several."""
    if count == 1:
        return (service,)
    return [replace(service, name=f"{service.name}-{number}") for number in range(1, count + 1)]


async def _port_of(service: Service, data_dir: Path, wanted: int = 0) -> int:
    """Give the port of a service: the wanted one, else the last one, however many replicas had it; noted.

    Raises PortTaken when the wanted one is another program's; asked here, since one that shares its port would share
    it with ours unnoticed. Raises EmbeddedServerError when a replica of a killed run has it and cannot be stopped.
    """
    for home in _homes(service, data_dir):
        await stop_service_left_in(home)
    home = _port_home(service, data_dir)
    if not wanted:
        return kept_port(home)
    if not is_free(wanted):
        raise PortTaken(f"cannot listen on {LOOPBACK}:{wanted}: the address is taken")
    note_port(home, wanted)
    return wanted


def table_address(data_dir: Path) -> str:
    """Return where the table service of a data folder listens, or listened last. Raises OSError, ValueError."""
    return f"{LOOPBACK}:{noted_port(data_dir / TABLE.name)}"


def _homes(service: Service, data_dir: Path) -> Sequence[Path]:
    """Give the folders of all replicas there ever were."""
    return [pid_file.parent for pid_file in data_dir.resolve().glob(f"{service.name}*/pid")]


def _port_home(service: Service, data_dir: Path) -> Path:
    return passable_folder(data_dir.resolve() / service.name)
