"""pg_dump, and restore into a fresh cluster."""

import asyncio
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from baohuang.embedded.postgres import EmbeddedPostgres
from baohuang.embedded.postgres_binaries import installed_binaries
from baohuang.eventlog import chain
from baohuang.eventlog.port import Duplicate, Refused
from baohuang.eventlog.postgres.log import open_log
from baohuang.eventlog.postgres.migrations import migrate
from baohuang.eventlog.postgres.schema import SCHEMA
from eventlog.commands import accepted, after, command, grow, new_name, new_stream


@pytest.fixture
def fresh_cluster(tmp_path: Path) -> Iterator[str]:
    """Give the DSN of a cluster that has never seen this project, not even its role."""
    server = EmbeddedPostgres(tmp_path)
    dsn = asyncio.run(server.start())
    yield dsn
    asyncio.run(server.destroy())


def copy(source: str, target: str, folder: Path) -> None:
    """Dump one database and restore it into another as an operator would."""
    binaries = installed_binaries()
    programs, dump = binaries.prefix / "bin", str(folder / "log.dump")
    with psycopg.connect(target, autocommit=True) as connection:
        for role in (SCHEMA.role, *SCHEMA.readers):
            connection.execute(sql.SQL("create role {} nologin").format(sql.Identifier(role)))
    for command_line in (
        [
            str(programs / "pg_dump"),
            "--format=custom",
            "--schema=eventlog*",
            "--schema=history",
            f"--file={dump}",
            source,
        ],
        [str(programs / "pg_restore"), "--exit-on-error", "--no-owner", f"--dbname={target}", dump],
    ):
        subprocess.run(command_line, check=True, env=binaries.environment, capture_output=True)  # noqa: S603


async def test_a_restored_log_goes_on(fresh_cluster: str, own_database_dsn: str, tmp_path: Path) -> None:
    """Every event is readable, appends go on at the next version and position, requests and claims are known."""
    name, nobodys = new_name(), new_name()
    streams = [new_stream() for _ in range(3)]
    remembered = command(new_stream(), request_id="remembered", claims=(name,))
    async with open_log(own_database_dsn) as log:
        ends = {stream_id: await grow(log, stream_id, 4) for stream_id in streams}
        await accepted(log, remembered)
        before = await log.read_all()
    await asyncio.to_thread(copy, own_database_dsn, fresh_cluster, tmp_path)
    await asyncio.to_thread(migrate, fresh_cluster)
    async with open_log(fresh_cluster) as log:
        assert await log.read_all() == before
        for number, stream_id in enumerate(streams, 1):
            appended = await accepted(log, after(stream_id, ends[stream_id]))
            assert (appended.version, appended.position) == (5, len(before) + number)
            tip = chain.verify(chain.start(stream_id), await log.read_stream(stream_id))
            chain.verify_end(tip, await log.head(stream_id))
        assert isinstance(await log.append(remembered), Duplicate)
        assert await log.holders([name, nobodys]) == {name: remembered.stream_id}
        assert await log.append(command(new_stream(), claims=(name,))) == Refused("a_name_is_claimed_once")
        await accepted(log, command(new_stream(), claims=(nobodys,)))
