"""What only reads the log needs a login that only reads, a member of baohuang_history and of nothing else."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import make_url

from archive.commands import run
from baohuang.eventlog.postgres.schema import HISTORY
from databases import Server


@pytest.fixture
def looker(postgres_server: Server, source: str) -> Iterator[str]:
    """Give the DSN of such a login."""
    name, password = f"looker_{secrets.token_hex(6)}", secrets.token_hex(16)
    with psycopg.connect(postgres_server.dsn, autocommit=True) as admin:
        made = sql.SQL("create role {} login password {} in role {}")
        admin.execute(made.format(sql.Identifier(name), sql.Literal(password), sql.Identifier(HISTORY)))
        yield make_url(source).set(username=name, password=password).render_as_string(hide_password=False)
        admin.execute(sql.SQL("drop role {}").format(sql.Identifier(name)))


def test_commands_that_only_read(looker: str, tmp_path: Path) -> None:
    """All of them run with it; those that write do not."""
    for command in (
        ("verify",),
        ("verify", "table-a", "--chain-only"),
        ("rulings", "--player", "bo"),
        ("history", "--limit", "5"),
        ("export", "table-a", "--output", tmp_path / "hand.json"),
        ("replay", "table-a"),
        ("archive", "--to", tmp_path, "--older-than", "0"),
    ):
        done = run(*command, "--postgres-dsn", looker)
        assert done.exit_code == 0, (command, done.output)
    assert run("explain", "table-a", "1", "--postgres-dsn", looker).output.endswith("which is no ruling\n")
    beyond = run("explain", "table-a", "9999999999999999999", "--postgres-dsn", looker)
    assert (beyond.exit_code, "2147483647" in beyond.output) == (2, True)
    (file, *_) = tmp_path.glob("*.gz")
    assert run("unarchive", file, "--postgres-dsn", looker).exit_code == 2
