"""The whole backend on this machine, as one async context manager: PostgreSQL, NATS, migrations, services.

    async with LocalBackend(BackendOptions(Path(".baohuang"))) as backend:
        channel = grpc.aio.insecure_channel(backend.table.address)

Started in this order and stopped in the opposite one, also when a start fails half way. Started again on the same
folder it finds everything.
"""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from alembic.util import CommandError
from sqlalchemy.exc import DBAPIError

from baohuang.embedded.errors import ServerDied
from baohuang.embedded.lock import FolderLock
from baohuang.embedded.nats import EmbeddedNats
from baohuang.embedded.postgres import EmbeddedPostgres
from baohuang.embedded.server import EmbeddedServer
from baohuang.eventlog.postgres.migrations import migrate
from baohuang.rpc.key_sources import is_url
from baohuang.rpc.rate_limit import RateLimit
from command_line.development_key import AUDIENCE, ISSUER, DevelopmentKey, jwks_path
from command_line.service_process import Service, ServiceProcess

TABLE = Service("table", "table_service.main", "BAOHUANG_TABLE_LISTEN")


class MigrationError(Exception):
    """The database cannot be reached, or its schema cannot be brought up to date."""


@dataclass(frozen=True, slots=True)
class BackendOptions:
    """How to run it.

    `postgres_dsn` and `nats_url` name servers of yours; None runs embedded ones. `table_port` 0 keeps the last one.
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


class LocalBackend:
    """The running backend. `postgres_dsn`, `nats_url` and `table` are there between entry and exit."""

    postgres_dsn: str
    nats_url: str
    table: ServiceProcess

    def __init__(self, options: BackendOptions) -> None:
        self._options = options
        self._resources = AsyncExitStack()
        self._servers: list[EmbeddedServer] = []

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

    async def first_death(self) -> ServerDied:
        """Wait until one of the processes ends by itself, and tell which and how."""
        children = [*(server.child for server in self._servers), self.table.child]
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
        self.table = ServiceProcess(TABLE, data_dir, self._environment(), options.table_port)
        self._resources.push_async_callback(self.table.stop)
        await self.table.start()

    async def _embed(self, server: EmbeddedServer) -> str:
        url = await self._resources.enter_async_context(server)
        self._servers.append(server)
        return url

    def _environment(self) -> dict[str, str]:
        environment = {
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
    except (DBAPIError, CommandError) as error:
        raise MigrationError(f"cannot bring the database up to date: {error}") from error
