"""`baohuang verify` as operators run it: what it says, in which form, and how it ends."""

import asyncio

import asyncpg
import msgspec
from typer.testing import CliRunner

from audit.honest import Play, recorded
from baohuang.eventlog.postgres.log import open_log
from baohuang.rules.state import TableId
from command_line.main import app


async def played(dsn: str) -> None:
    """Play a hand at a table."""
    async with open_log(dsn) as log:
        await recorded(log, Play(TableId("table"), "ourgame-simple", 1), hands=1)


async def tampered(dsn: str) -> None:
    """Change one byte."""
    connection = await asyncpg.connect(dsn)
    await connection.execute("set session_replication_role = replica")
    await connection.execute("update eventlog.events set actor = 'x' where version = 9")
    await connection.close()


def test_what_it_says(own_database_dsn: str) -> None:
    """0 and a line for an honest log, 1 and each finding for another, 2 where that cannot be told."""
    asyncio.run(played(own_database_dsn))
    runner, options = CliRunner(), ["--postgres-dsn", own_database_dsn]
    honest = runner.invoke(app, ["verify", *options])
    assert (honest.exit_code, honest.output[:29]) == (0, "✓ nothing is wrong: 1 streams")
    asyncio.run(tampered(own_database_dsn))
    wrong = runner.invoke(app, ["verify", "table", "--chain-only", *options])
    assert wrong.exit_code == 1
    assert "✗ chain: table at version 9: " in wrong.output
    told = runner.invoke(app, ["verify", "--json", *options])
    first, *_, last = [msgspec.json.decode(line) for line in told.output.splitlines()]
    assert (first["check"], first["stream"], first["version"]) == ("chain", "table", 9)
    assert last["findings"] >= 1
    nowhere = runner.invoke(app, ["verify", "--postgres-dsn", "postgresql://nobody@127.0.0.1:1/none"])
    assert nowhere.exit_code == 2
    both = runner.invoke(app, ["verify", "table", "--since", "2026-01-01T00:00:00", *options])
    assert both.exit_code == 2
