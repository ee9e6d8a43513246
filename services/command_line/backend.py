"""The whole backend on this machine, as one async context manager: PostgreSQL, NATS, migrations, services.

    async with LocalBackend(BackendOptions(Path(".baohuang"))) as backend:
        channel = grpc.aio.insecure_channel(backend.table.address)

Started in this order and stopped in the opposite one, also when a start fails half way. Started again on the same
folder it finds everything.
"""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from alembic.util import CommandError
from sqlalchemy.exc import DBAPIError

import rating_service.migrations
import scoring_service.migrations
from baohuang.embedded.account import passable_folder
from baohuang.embedded.errors import PortTaken, ServerDied
from baohuang.embedded.lock import FolderLock
from baohuang.embedded.nats import EmbeddedNats
from baohuang.embedded.ports import LOOPBACK, is_free, kept_port, note_port, noted_port
from baohuang.embedded.postgres import EmbeddedPostgres
from baohuang.embedded.server import EmbeddedServer
from baohuang.eventlog.postgres.migrations import migrate
from baohuang.rpc.key_sources import is_url
from baohuang.rpc.rate_limit import RateLimit
from command_line.development_key import AUDIENCE, ISSUER, DevelopmentKey, jwks_path
from command_line.service_process import Service, ServiceProcess, stop_service_left_in
from command_line.supervision import KeptServer, Process

TABLE = Service("table", "table_service.main", "BAOHUANG_TABLE_LISTEN")
SCORING = Service("scoring", "scoring_service.main", "BAOHUANG_SCORING_LISTEN")
RATING = Service("rating", "rating_service.main", "BAOHUANG_RATING_LISTEN")


class MigrationError(Exception):
    """The database cannot be reached, or its schema cannot be brought up to date."""


@dataclass(frozen=True, slots=True)
class BackendOptions:
    """How to run it.

    `postgres_dsn` and `nats_url` name servers of yours; None runs embedded ones. `table_port` 0 keeps the last one,
    wanted or not;
    all `table_replicas` listen on it.
    `jwks` is the path or URL of the keys of your own tokens; None trusts those of `baohuang token`. `insecure_dev`
    believes each client that sends no token on its own word. `rate_limit` None is the services' own default.
    """

    data_dir: Path
    postgres_dsn: str | None = None
    nats_url: str | None = None
    table_port: int = 0
    dev_seed: int | None = None
    insecure_dev: bool = False
    jwks: str | None = None
    rate_limit: RateLimit | None = None
    table_replicas: int = 1


class LocalBackend:
    """The running backend. `postgres_dsn`, `nats_url` and `tables` are there between entry and exit."""

    postgres_dsn: str
    nats_url: str
    tables: Sequence[ServiceProcess]
    """The replicas of the table service; they share one address."""

    def __init__(self, options: BackendOptions) -> None:
        self._options = options
        self._resources = AsyncExitStack()
        self._servers: list[KeptServer] = []

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
    def processes(self) -> Sequence[Process]:
        """All that runs, in the order in which it was started."""
        return (*self._servers, *self.tables)

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
        self.postgres_dsn = options.postgres_dsn or await self._embed(EmbeddedPostgres(data_dir))
        self.nats_url = options.nats_url or await self._embed(EmbeddedNats(data_dir))
        await asyncio.to_thread(_migrate, self.postgres_dsn)
        port = await _table_port(data_dir, options.table_port)
        self.tables = [
            ServiceProcess(replica, data_dir, self._environment(replica), port)
            for replica in _replicas(TABLE, options.table_replicas)
        ]
        for table in self.tables:
            self._resources.push_async_callback(table.stop)
        await asyncio.gather(*(table.start() for table in self.tables))

    async def _embed(self, server: EmbeddedServer) -> str:
        url = await self._resources.enter_async_context(server)
        self._servers.append(KeptServer(server, url))
        return url

    def _environment(self, replica: Service) -> dict[str, str]:
        environment = {
            "BAOHUANG_REPLICA": replica.name,
            "BAOHUANG_SHARE_PORT": str(self._options.table_replicas > 1).lower(),
            "BAOHUANG_POSTGRES_DSN": self.postgres_dsn,
            "BAOHUANG_NATS_URL": self.nats_url,
            "BAOHUANG_INSECURE_DEV": str(self._options.insecure_dev).lower(),
            **_tokens_environment(self._options),
        }
        if self._options.dev_seed is not None:
            environment["BAOHUANG_DEV_SEED"] = str(self._options.dev_seed)
        if limit := self._options.rate_limit:
            environment["BAOHUANG_RATE_LIMIT_PER_SECOND"] = str(limit.per_second)
            environment["BAOHUANG_RATE_LIMIT_BURST"] = str(limit.burst)
        return environment


def _replicas(service: Service, count: int) -> Sequence[Service]:
    """Give the service its replicas, numbered where there are several."""
    if count == 1:
        return (service,)
    return [replace(service, name=f"{service.name}-{number}") for number in range(1, count + 1)]


async def _table_port(data_dir: Path, wanted: int) -> int:
    """Give the port of the table service: the wanted one, else the last one, however many replicas had it; noted.

    Raises PortTaken when the wanted one is another program's; asked here, since one that shares its port would share
    it with ours unnoticed. Raises EmbeddedServerError when a replica of a killed run has it and cannot be stopped.
    """
    for home in _table_homes(data_dir):
        await stop_service_left_in(home)
    home = _port_home(data_dir)
    if not wanted:
        return kept_port(home)
    if not is_free(wanted):
        raise PortTaken(f"cannot listen on {LOOPBACK}:{wanted}: the address is taken")
    note_port(home, wanted)
    return wanted


def table_address(data_dir: Path) -> str:
    """Return where the table service of a data folder listens, or listened last. Raises OSError, ValueError."""
    return f"{LOOPBACK}:{noted_port(data_dir / TABLE.name)}"


def _table_homes(data_dir: Path) -> Sequence[Path]:
    """Give the folders of all replicas there ever were."""
    return [pid_file.parent for pid_file in data_dir.resolve().glob(f"{TABLE.name}*/pid")]


def _port_home(data_dir: Path) -> Path:
    return passable_folder(data_dir.resolve() / TABLE.name)


def _tokens_environment(options: BackendOptions) -> dict[str, str]:
    """Give the settings for the tokens to trust; with keys of yours, issuer and audience come from our environment."""
    if options.jwks is not None:
        return {"BAOHUANG_JWKS": options.jwks if is_url(options.jwks) else str(Path(options.jwks).resolve())}
    return {
        "BAOHUANG_JWKS": str(jwks_path(options.data_dir)),
        "BAOHUANG_JWT_ISSUER": ISSUER,
        "BAOHUANG_JWT_AUDIENCE": AUDIENCE,
    }


def _migrate(dsn: str) -> None:
    try:
        migrate(dsn)
        scoring_service.migrations.migrate(dsn)
        rating_service.migrations.migrate(dsn)
    except (DBAPIError, CommandError) as error:
        raise MigrationError(f"cannot bring the database up to date: {error}") from error
