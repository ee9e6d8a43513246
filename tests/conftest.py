"""Fixtures for tests that need PostgreSQL, which is always a real one.

It is the server of `BAOHUANG_POSTGRES_DSN` (a superuser's DSN) if that is set, else a container with
`--backend=containers`, else an embedded one for each test process. Nothing is skipped for want of a server.
"""

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import settings

from baohuang.embedded.postgres import EmbeddedPostgres
from databases import Server

# Compiled code is kept whatever the environment says: each worker, and each of the hundreds of processes that tests
# start, would compile everything anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Time is no property: a test that takes long on a busy machine still holds.
settings.register_profile("baohuang", deadline=None)
settings.load_profile("baohuang")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the choice of where servers come from."""
    parser.addoption(
        "--backend",
        choices=("embedded", "containers"),
        default="embedded",
        help="where PostgreSQL comes from unless BAOHUANG_POSTGRES_DSN names a server",
    )
    kills = parser.getgroup("kills", "how large the run of tests/up/kills is")
    kills.addoption("--kill-tables", type=int, default=6, help="tables that play")
    kills.addoption("--kill-hands", type=int, default=2, help="hands that each of them plays")
    kills.addoption("--kills", type=int, default=8, help="kills while they play; one of each kind comes first")
    kills.addoption("--kill-seed", type=int, help="what is killed when, to have it again; a fresh one unless given")


@pytest.fixture
def folder() -> Iterator[Path]:
    """Give a folder that every user may pass through (pytest's own are closed to others)."""
    made = Path(tempfile.mkdtemp(prefix="baohuang-test-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="session")
def postgres_server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Give a running server."""
    if dsn := os.environ.get("BAOHUANG_POSTGRES_DSN"):
        yield Server(dsn)
    elif request.config.getoption("--backend") == "containers":
        with _container() as dsn:
            yield Server(dsn)
    else:
        with _embedded(tmp_path_factory.mktemp("postgres")) as dsn:
            yield Server(dsn)


@pytest.fixture(scope="session")
def template_database(postgres_server: Server) -> Iterator[str]:
    """Give the name of a migrated and empty database, to copy and never to connect to."""
    with postgres_server.migrated() as name:
        yield name


@pytest.fixture(scope="module")
def database_dsn(postgres_server: Server, template_database: str) -> Iterator[str]:
    """Give the superuser's DSN of a migrated database that this test module has to itself."""
    with postgres_server.database(template_database) as name:
        yield postgres_server.dsn_of(name)


@pytest.fixture
def own_database_dsn(postgres_server: Server, template_database: str) -> Iterator[str]:
    """Give the superuser's DSN of a migrated database that one test has to itself."""
    with postgres_server.database(template_database) as name:
        yield postgres_server.dsn_of(name)


@contextmanager
def _embedded(folder: Path) -> Iterator[str]:
    server = EmbeddedPostgres(folder)
    dsn = asyncio.run(server.start())
    try:
        Server(dsn).hurry()
        yield dsn
    finally:
        asyncio.run(server.destroy())


@contextmanager
def _container() -> Iterator[str]:
    # Imported here since it is slow and most runs have no containers.
    from testcontainers.postgres import PostgresContainer  # noqa: PLC0415

    with PostgresContainer("postgres:18", driver=None) as container:
        yield container.get_connection_url()
