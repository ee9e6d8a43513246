"""A site as operators have it: a PostgreSQL with the roles of `deploy/`, a NATS, services with logins of their own.

What the page for operators says is done by a shell, in the very words of the page.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import asyncpg
import grpc
import psycopg
from psycopg import sql
from sqlalchemy import make_url

from baohuang.embedded.nats import EmbeddedNats
from baohuang.embedded.postgres import EmbeddedPostgres
from baohuang.embedded.postgres_binaries import installed_binaries
from baohuang.eventlog.postgres.log import open_log
from baohuang.stream.permissions import NatsUser
from command_line.service_process import ServiceProcess
from command_line.services import RATING, SCORING, TABLE, Service
from databases import Server
from deploy.tree import ROOT
from operators.page import commands
from tables.clients import Client, open_table
from tables.games import PLAYERS, Game

LOGINS: Final = {TABLE: "login_table", SCORING: "login_scoring", RATING: "login_rating"}
_USERS: Final = {TABLE: NatsUser.TABLE, SCORING: NatsUser.SCORING, RATING: NatsUser.RATING}
_PASSWORD: Final = "hush"  # noqa: S105 - of a database that is gone in a minute


@dataclass(frozen=True, slots=True)
class Site:
    """Where its PostgreSQL and its NATS are, and the folder in which commands are run and services write their logs."""

    folder: Path
    postgres: EmbeddedPostgres
    superuser: str
    nats: EmbeddedNats

    def dsn_of(self, login: str) -> str:
        """Return the DSN of one of the logins."""
        named = make_url(self.superuser).set(username=login, password=_PASSWORD)
        return named.render_as_string(hide_password=False)

    def give_passwords(self, *logins: str) -> None:
        """Give logins theirs."""
        with psycopg.connect(self.superuser, autocommit=True) as admin:
            for login in ("baohuang_owner", *LOGINS.values(), *logins):
                admin.execute(sql.SQL("alter role {} login password {}").format(sql.Identifier(login), _PASSWORD))

    async def run(self, title: str, **told: str) -> str:
        """Run the commands of the page that are marked so, and return what they print. Fails when one of them does."""
        return await self.shell(commands(title), **told)

    async def shell(self, script: str, **told: str) -> str:
        """Run commands as an operator does, with PostgreSQL's programs and `baohuang` at hand."""
        programs = installed_binaries()
        path = (programs.prefix / "bin", Path(sys.executable).parent)
        environment = {
            **programs.environment,
            "PATH": os.pathsep.join((*map(str, path), os.defpath)),
            "PYTHONPATH": os.pathsep.join(sys.path),
            "SUPERUSER_DSN": self.superuser,
            "BAOHUANG_POSTGRES_DSN": self.dsn_of("baohuang_owner"),
            "BAOHUANG_NATS_URL": self.nats.url_of(NatsUser.OPERATOR),
            **told,
        }
        process = await asyncio.create_subprocess_exec(
            "/bin/sh",
            "-ec",
            script.replace("deploy/", f"{ROOT}/deploy/"),
            cwd=self.folder,
            env=environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        printed = (await process.communicate())[0].decode()
        assert process.returncode == 0, printed
        return printed

    @asynccontextmanager
    async def serving(self, *services: Service, **told: str) -> AsyncIterator[Mapping[Service, ServiceProcess]]:
        """Run services until the end of the block; they start side by side."""
        async with AsyncExitStack() as stack:
            running = {service: ServiceProcess(service, self.folder, self._told(service, told)) for service in services}
            for process in running.values():
                stack.push_async_callback(process.stop)
            await asyncio.gather(*(process.start() for process in running.values()))
            yield running

    def _told(self, service: Service, more: Mapping[str, str]) -> Mapping[str, str]:
        return {
            "BAOHUANG_POSTGRES_DSN": self.dsn_of(LOGINS[service]),
            "BAOHUANG_NATS_URL": self.nats.url_of(_USERS[service]),
            "BAOHUANG_INSECURE_DEV": "true",
            "BAOHUANG_DRAIN_GRACE_SECONDS": "1",
            **more,
        }

    @asynccontextmanager
    async def game(self, table: ServiceProcess, table_id: str | None = None) -> AsyncIterator[Game]:
        """Give five players at a table of that service, a new one at which all sit unless it is named."""
        async with open_log(self.superuser) as log, grpc.aio.insecure_channel(table.address) as channel:
            clients = [Client(channel, player) for player in PLAYERS]
            if table_id is not None:
                yield Game(log, table_id, clients)
                return
            game = Game(log, (await clients[0].call(open_table("homy-standard"))).table_id, clients)
            await game.seat_all()
            yield game

    async def asked(self, question: str, *arguments: object) -> Sequence[asyncpg.Record]:
        """Ask the database, as a superuser."""
        connection = await asyncpg.connect(self.superuser)
        try:
            return await connection.fetch(question, *arguments)
        finally:
            await connection.close()


@asynccontextmanager
async def site(folder: Path, nats: EmbeddedNats | None = None) -> AsyncIterator[Site]:
    """Run an empty PostgreSQL, and a NATS unless there is one; both are gone afterwards, as in a fire."""
    folder.mkdir()  # noqa: ASYNC240 - nobody waits
    async with AsyncExitStack() as stack:
        postgres = EmbeddedPostgres(folder)
        superuser = await postgres.start()
        stack.push_async_callback(postgres.destroy)
        Server(superuser).hurry()
        stream = nats or EmbeddedNats(folder)
        if nats is None:
            await stream.start()
            stack.push_async_callback(stream.destroy)
        yield Site(folder, postgres, superuser, stream)
