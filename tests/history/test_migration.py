"""What was played before history had indexes is found by them."""

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path

from baohuang.database.migrations import migrate
from baohuang.eventlog.postgres.log import open_log
from baohuang.eventlog.postgres.migrations import migrate as migrate_log
from baohuang.eventlog.postgres.schema import SCHEMA
from baohuang.history.reader import open_history
from baohuang.history.sought import RulingsSought
from databases import Server
from history.filtering import rulings_in
from history.plays import played


def migrate_to_release_before(dsn: str, folder: Path) -> None:
    """Make the schema as it was before there was history."""
    versions = folder / "versions"
    versions.mkdir()
    for number in range(1, 8):
        for script in SCHEMA.folder.glob(f"versions/*{number:04}_*.*"):
            shutil.copy(script, versions)
    migrate(dsn, replace(SCHEMA, folder=folder))


async def test_rulings_of_before_are_found_by_whom_they_are_about(postgres_server: Server, tmp_path: Path) -> None:
    """The migration notes for rulings that name seats whose those were, as an append does after it."""
    with postgres_server.database() as name:
        dsn = postgres_server.dsn_of(name)
        await asyncio.to_thread(migrate_to_release_before, dsn, tmp_path)
        async with open_log(dsn, readers=1) as log:
            events = await played(log, tables=4, hands=2)
        await asyncio.to_thread(migrate_log, dsn)
        by_seats = {
            player
            for ruling in rulings_in(events, RulingsSought(kinds=("HandVoided", "TableDissolved", "TurnExtended")))
            for player in ruling.players
        }
        assert by_seats
        async with open_history(dsn, readers=1) as history:
            for player in by_seats:
                sought = RulingsSought(player=player)
                assert list(await history.rulings(sought, 1000)) == rulings_in(events, sought)
