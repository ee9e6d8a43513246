"""The commands, as operators run them."""

import asyncio
from pathlib import Path

from typer.testing import CliRunner, Result

from baohuang.eventlog.port import StoredEvent
from baohuang.eventlog.postgres.log import open_log
from command_line.main import app


def run(*arguments: str | Path) -> Result:
    """Run a subcommand."""
    return CliRunner().invoke(app, [str(one) for one in arguments])


async def ran(*arguments: str | Path) -> Result:
    """Run a subcommand, from a coroutine."""
    return await asyncio.to_thread(run, *arguments)


def archived(dsn: str, folder: Path) -> list[Path]:
    """Archive all finished tables, however young, and give the files."""
    assert run("archive", "--to", folder, "--older-than", "0", "--postgres-dsn", dsn).exit_code == 0
    return sorted(folder.iterdir())


async def every_event(dsn: str) -> list[StoredEvent]:
    """Give all of a log."""
    async with open_log(dsn, readers=1) as log:
        return list(await log.read_all(limit=100_000))
