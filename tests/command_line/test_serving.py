"""Services by their names, and the database brought up to date: what a container is told to be."""

import os
import subprocess
import sys

import psycopg
import pytest

from command_line.serving import SERVED
from databases import Server


def ran(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `baohuang` with these BAOHUANG_ variables and no others, to its end."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("BAOHUANG_")}
    chosen = {f"BAOHUANG_{name}": text for name, text in variables.items()}
    return subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "command_line", *arguments],
        env=kept | chosen,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("service", SERVED)
def test_each_service_starts_by_its_name(service: str) -> None:
    """It is that service, since it says what it lacks: nothing is served without being told from where."""
    ended = ran("serve", service)
    assert ended.returncode == 1
    assert ended.stderr.startswith(service)
    assert "is not set" in ended.stderr


def test_another_name_is_refused() -> None:
    """With the names that there are."""
    ended = ran("serve", "nonsense")
    assert ended.returncode == 2
    assert all(name in ended.stderr for name in SERVED)


def test_a_database_is_brought_up_to_date_once_and_again(postgres_server: Server) -> None:
    """An empty one gets every schema; the second time there is nothing to do, and that is well."""
    with postgres_server.database() as name:
        dsn = postgres_server.dsn_of(name)
        for _ in range(2):
            done = ran("migrate", POSTGRES_DSN=dsn)
            assert (done.returncode, done.stdout, done.stderr) == (0, "the database is up to date\n", "")
        with psycopg.connect(dsn) as connection:
            found = connection.execute("select nspname from pg_namespace").fetchall()
    assert {row[0] for row in found} >= {"eventlog", "scoring", "rating", "matchmaking"}


def test_without_a_database_it_says_so() -> None:
    """In one line, without the password."""
    ended = ran("migrate", POSTGRES_DSN="postgresql://anybody:hush@127.0.0.1:1/nothing")
    assert ended.returncode == 1
    assert ended.stderr.startswith("migrate: cannot bring the database up to date")
    assert "hush" not in ended.stderr
