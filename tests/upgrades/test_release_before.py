"""The code of the release before, on the schema that this tree makes of an empty database."""

import asyncio
import os
import sys
from contextlib import AsyncExitStack

import pytest

from fleet.code import Code
from fleet.companies import check_unharmed, companies, play_all
from fleet.fleet import Fleet, Place
from fleet.settled import check_all

TABLES = 2


async def said_by(code: Code, *arguments: str) -> str:
    """Run a release's `baohuang`, which has to succeed, and give what it prints."""
    environment = {**os.environ, "PYTHONPATH": code.path}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "command_line", *arguments), env=environment, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await process.communicate()
    assert process.returncode == 0, said.decode()
    return said.decode()


@pytest.mark.timeout(600)
async def test_it_plays_scores_and_rates_on_the_new_schema(servers: Fleet, place: Place, before: Code) -> None:
    """All its services serve there; hands are played to their end, scored, rated; both releases find nothing wrong.

    Its own migration, run there by who goes back, finds nothing to do.
    """
    await said_by(before, "migrate", "--postgres-dsn", place.dsn)
    await servers.start_all(*((service, before) for service in ("table", "scoring", "rating", "matchmaking")))
    async with AsyncExitStack() as stack:
        await play_all(await companies(stack, servers.address_of("table"), TABLES, "p"))
    await check_all(place.dsn)
    for command in ("verify", "reconcile"):
        await said_by(before, command, "--postgres-dsn", place.dsn)
    await check_unharmed(place.dsn, TABLES)
