"""Services of two releases on one database and one NATS, each a process that runs the code of its release."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import asyncpg

from baohuang.embedded.nats import EmbeddedNats
from baohuang.embedded.ports import LOOPBACK, free_port
from baohuang.embedded.postgres import EmbeddedPostgres
from baohuang.rpc.rate_limit import RateLimit
from baohuang.stream.permissions import NatsUser
from command_line.development_key import DevelopmentKey
from command_line.service_process import Service, ServiceProcess
from command_line.services import MATCHMAKING, RATING, SCORING, TABLE, BackendOptions, Surroundings
from databases import Server
from metrics.scraping import page_at

_USERS = {TABLE: NatsUser.TABLE, SCORING: NatsUser.SCORING, RATING: NatsUser.RATING}
_UNHURRIED = RateLimit(per_second=10_000, burst=10_000)


@dataclass(frozen=True, slots=True)
class Code:
    """A release's code: a name for its processes, and what is their PYTHONPATH."""

    name: str
    path: str

    def check(self) -> None:
        """Check that a process with this path runs this code, and no other that is installed here."""
        packages = ("baohuang", "table_service", "scoring_service", "rating_service", "matchmaking_service")
        program = f"import {', '.join(packages)}; print({', '.join(f'{name}.__file__' for name in packages)})"
        environment = {**os.environ, "PYTHONPATH": self.path}
        ran = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, env=environment)  # noqa: S603
        folders = self.path.split(os.pathsep)
        for file in ran.stdout.decode().split():
            assert any(file.startswith(f"{folder}/") for folder in folders), file


THIS = Code("new", os.pathsep.join(sys.path))


@dataclass(slots=True)
class Fleet:
    """A database, a NATS, and the services that `start` added; all replicas of one service share an address."""

    data: Path
    dsn: str
    nats_url: str
    around: Surroundings
    running: list[ServiceProcess] = field(default_factory=list)
    metrics: dict[str, int] = field(default_factory=dict)
    """The ports on which processes tell their metrics, by name."""

    def address(self, service: Service) -> str:
        """Return where a service serves."""
        return self.around.addresses[service]

    async def start(self, *wanted: tuple[Service, Code]) -> Sequence[ServiceProcess]:
        """Start services, each with a release's code, side by side, and wait until all serve."""
        made = [self._made(service, code) for service, code in wanted]
        self.running += made
        await asyncio.gather(*(process.start() for process in made))
        return made

    async def stop(self, *processes: ServiceProcess) -> None:
        """Stop services in order."""
        await asyncio.gather(*(process.stop() for process in processes))
        self.running = [process for process in self.running if process not in processes]

    async def accepted_by(self, process: ServiceProcess) -> float:
        """Return how many commands a replica of the table service has decided and stored since its start."""
        page = await page_at(self.metrics[process.name])
        return page.value("baohuang_commands_total", outcome="ACCEPTED")

    async def fetched(self, query: str, *arguments: object) -> Any:
        """Return the value that a query finds."""
        admin = await asyncpg.connect(self.dsn)
        try:
            return await admin.fetchval(query, *arguments)
        finally:
            await admin.close()

    def _made(self, service: Service, code: Code) -> ServiceProcess:
        replica = replace(service, name=f"{service.name}-{code.name}")
        self.metrics[replica.name] = free_port()
        environment: Mapping[str, str] = {
            **self.around.environment_of(service),
            "BAOHUANG_SHARE_PORT": "true",
            "BAOHUANG_REPLICA": replica.name,
            "BAOHUANG_METRICS_LISTEN": f"{LOOPBACK}:{self.metrics[replica.name]}",
            "PYTHONPATH": code.path,
        }
        return ServiceProcess(replica, self.data, environment, int(self.address(service).rpartition(":")[2]))


@asynccontextmanager
async def fleet(data: Path) -> AsyncIterator[Fleet]:
    """Run an empty PostgreSQL and NATS; stop all that was started in the end."""
    DevelopmentKey.made_or_found(data)
    postgres, nats = EmbeddedPostgres(data), EmbeddedNats(data)
    async with postgres as dsn, nats as nats_url:
        Server(dsn).hurry()
        services = (TABLE, SCORING, RATING, MATCHMAKING)
        around = Surroundings(
            BackendOptions(data, insecure_dev=True, rate_limit=_UNHURRIED, table_replicas=2, beside=services[1:]),
            dsn,
            {service: nats.url_of(user) for service, user in _USERS.items()},
            {service: f"{LOOPBACK}:{free_port()}" for service in services},
        )
        made = Fleet(data, dsn, nats_url, around)
        try:
            yield made
        finally:
            await made.stop(*made.running)
