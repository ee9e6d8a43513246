"""The compose file as processes on this machine: its NATS, its database, its services, told what their containers are.

Only addresses and paths are others: each name of a container and its port is a port of this machine here.
"""

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from psycopg.conninfo import conninfo_to_dict

from baohuang.embedded.account import Account
from baohuang.embedded.child import Child, Program
from baohuang.embedded.nats import nats_binary
from baohuang.embedded.ports import LOOPBACK, free_port
from baohuang.embedded.postgres import EmbeddedPostgres
from baohuang.embedded.postgres_binaries import installed_binaries
from command_line.serving import SERVED
from deploy.tree import DEPLOY, ROOT, compose
from eventually import eventually

NODES: Final = ("nats-1", "nats-2", "nats-3")
_STOP: Final = ((signal.SIGTERM, 45.0),)
_START_SECONDS: Final = 120.0


@dataclass(frozen=True, slots=True)
class Twin:
    """What runs; `ports` are those of this machine by names of the compose file and their ports."""

    folder: Path
    secrets: Path
    made: Mapping[str, str]
    ports: Mapping[str, int]
    services: dict[str, Child]
    nodes: dict[str, Child]

    def address(self, service: str) -> str:
        """Return where a service, "table" or "table-2", serves here."""
        return f"{LOOPBACK}:{self.ports[f'{service}:50051']}"

    def environment_of(self, name: str, port: int | None = None) -> dict[str, str]:
        """Return what a container is told, with the names of this machine."""
        told = compose()["services"][name]["environment"]
        return {variable: self._here(text, port) for variable, text in told.items()}

    async def is_healthy(self, name: str) -> bool:
        """Run the health check of a service's container, told what that is told."""
        check, *command = compose()["services"][name.removesuffix("-2")]["healthcheck"]["test"]
        assert (check, command[0]) == ("CMD", "baohuang")
        arguments = [text.replace("127.0.0.1:50051", self.address(name)) for text in command[1:]]
        told = self.environment_of(name.removesuffix("-2"))
        return await _ours(self, f"health-of-{name}", arguments, told).wait() == 0

    def _here(self, text: str, port: int | None) -> str:
        here = re.sub(r"\$\{(\w+)(?::\?)?\}", lambda found: self.made[found[1]], text)
        for container, own in self.ports.items():
            here = re.sub(rf"(?<![\w-]){container}\b", f"{LOOPBACK}:{own}", here)
        if port is not None:
            here = here.replace("0.0.0.0:50051", f"{LOOPBACK}:{port}")
        return here.replace("/etc/baohuang/jwks/", f"{self.secrets}/keys/").replace(
            "/etc/baohuang/bots/", f"{self.secrets}/keys/"
        )


@asynccontextmanager
async def twin(folder: Path, secrets: Path, quick: Mapping[str, str]) -> AsyncIterator[Twin]:
    """Run all of it, migrated; `quick` are further variables of every service, to hurry it."""
    env = (secrets / "compose.env").read_text(encoding="utf-8")
    made = dict(line.split("=", 1) for line in env.splitlines())
    async with AsyncExitStack() as stack:
        server = EmbeddedPostgres(folder)
        dsn = await server.start()
        stack.push_async_callback(server.stop)
        running = Twin(folder, secrets, made, _ports(dsn), {}, {})
        await _initialised(running, dsn)
        for node in NODES:
            running.nodes[node] = _node(running, node)
            stack.push_async_callback(running.nodes[node].stop, _STOP)
        for node in NODES:
            await _says(running.nodes[node], "Server is ready")
        await _ended(_ours(running, "migrate", ["migrate"], {}))
        for name in (*SERVED, "table-2"):
            running.services[name] = _service(running, name, quick)
            stack.push_async_callback(running.services[name].stop, _STOP)
        for child in running.services.values():
            await _says(child, "listening on ")
        yield running


def _ports(dsn: str) -> dict[str, int]:
    others = {f"{node}:{port}": free_port() for node in NODES for port in (4222, 6222, 8222)}
    services = {f"{name}:50051": free_port() for name in (*SERVED, "table-2")}
    postgres = int(conninfo_to_dict(dsn)["port"] or 0)
    return {"postgres:5432": postgres, "nats:4222": others["nats-1:4222"], **others, **services}


async def _initialised(running: Twin, dsn: str) -> None:
    """Do with the database what the container of PostgreSQL does with its folder of scripts."""
    told, found = running.environment_of("postgres"), conninfo_to_dict(dsn)
    programs = installed_binaries().prefix / "bin"
    environment = {
        **told,
        "PATH": f"{programs}{os.pathsep}{os.defpath}",
        "POSTGRES_USER": str(found["user"]),
        "PGHOST": LOOPBACK,
        "PGPORT": str(found["port"]),
        "PGPASSWORD": str(found["password"]),
    }
    database = ["--set", "ON_ERROR_STOP=1", "--username", str(found["user"]), "--dbname", told["POSTGRES_DB"]]
    roles = [str(programs / "psql"), "--no-psqlrc", *database, "--file", str(DEPLOY / "postgres/roles.sql")]
    for number, arguments in enumerate((roles, roles, [str(DEPLOY / "postgres/passwords.sh")])):
        await _ended(_child(running, f"initialising-{number}", arguments, environment))


def _node(running: Twin, node: str) -> Child:
    """Start a node of NATS on the very files, with addresses of this machine."""
    home = running.folder / node
    home.mkdir()
    for file in (DEPLOY / "nats").glob("*.conf"):
        text = file.read_text(encoding="utf-8").replace("/data", str(home / "data"))
        for port in (4222, 6222, 8222):
            text = text.replace(f"0.0.0.0:{port}", f"{LOOPBACK}:{running.ports[f'{node}:{port}']}")
        (home / file.name).write_text(text, encoding="utf-8")
    command: Sequence[Any] = compose()["services"][node]["command"]
    arguments = [str(nats_binary()), *(text.replace("/etc/nats", str(home)) for text in command)]
    return _child(running, node, arguments, running.environment_of(node))


def _service(running: Twin, name: str, quick: Mapping[str, str]) -> Child:
    service = name.removesuffix("-2")
    told = running.environment_of(service, running.ports[f"{name}:50051"])
    return _ours(running, name, compose()["services"][service]["command"], {**told, **quick})


def _ours(running: Twin, name: str, arguments: Sequence[str], environment: Mapping[str, str]) -> Child:
    told = environment or running.environment_of(name)
    python = {"PYTHONPATH": os.pathsep.join(sys.path), "PATH": os.environ["PATH"]}
    return _child(running, name, [sys.executable, "-m", "command_line", *arguments], {**python, **told})


def _child(running: Twin, name: str, arguments: Sequence[str], environment: Mapping[str, str]) -> Child:
    account = Account(os.geteuid(), os.getegid())
    log = running.folder / f"{name}.log"
    return Child.start(Program(name, arguments, log, ROOT, environment, account, signal.SIGTERM))


async def _says(child: Child, text: str) -> None:
    async def said() -> bool:
        if child.exit_code is not None:
            raise child.died()
        return text in child.program.log.read_text(encoding="utf-8")

    await eventually(said, _START_SECONDS)


async def _ended(child: Child) -> None:
    if await asyncio.wait_for(child.wait(), _START_SECONDS):
        raise child.died()
