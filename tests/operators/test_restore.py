"""A backup restored as docs/operations.md has it, into a cluster that has never run this system."""

import asyncio
import shutil
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random

import psycopg
import pytest

import matchmaking_service.schema
import rating_service.schema
import scoring_service.schema
from baohuang.embedded.nats import EmbeddedNats
from baohuang.eventlog.postgres.schema import SCHEMA
from baohuang.rules.state import in_progress
from baohuang.stream.connection import connect_to
from baohuang.stream.jetstream import JetStream
from baohuang.stream.permissions import NatsUser
from baohuang.stream.port import StreamError
from baohuang.stream.streams import TABLE_STREAM
from bench.random_player import chance_of
from command_line.services import RATING, SCORING, TABLE, Service
from deploy.tree import DEPLOY
from eventually import eventually
from operators.page import commands
from operators.sites import Site, site
from tables.games import Game

SCHEMAS = (SCHEMA, scoring_service.schema.SCHEMA, rating_service.schema.SCHEMA, matchmaking_service.schema.SCHEMA)
SOON = 60.0
"""Seconds that anything may take on a busy machine."""


def test_roles_are_made_before_a_restore_grants_to_them() -> None:
    """Every role that the schemas' grants name is made by the file that the page has run first."""
    made = (DEPLOY / "postgres/roles.sql").read_text(encoding="utf-8")
    named = {role for schema in SCHEMAS for role in (schema.role, *schema.readers, *schema.reads)}
    assert [role for role in named if f"'{role}'" not in made] == []


async def test_a_backup_of_a_superusers_database(week_dsn: str, tmp_path: Path) -> None:
    """Made, migrated and dumped by a superuser: what is restored is the owner's, verifies, and is migrated further.

    To have the roles made again changes nothing; operators may ask it.
    """
    async with site(tmp_path / "site") as fresh:
        await fresh.run("backup", BACKUP_DSN=week_dsn)
        await fresh.run("restore")
        fresh.give_passwords()
        assert "nothing is wrong" in await fresh.run("after a restore")
        await fresh.shell('psql --set=ON_ERROR_STOP=1 --dbname="$SUPERUSER_DSN" --file=deploy/postgres/roles.sql')
        owners = await fresh.asked("select distinct tableowner from pg_tables where schemaname !~ '^(pg_|inform)'")
        assert [owner for (owner,) in owners] == ["baohuang_owner"]
        with psycopg.connect(fresh.superuser) as connection:
            connection.execute("set role baohuang_reader")
            row = connection.execute("select count(*) from history.hands").fetchone()
            assert row is not None
            assert row[0] > 5


ON_THIS_MACHINE = 'kubectl() { while [ "$1" != -- ]; do shift; done; shift; "$@"; }\n'
"""What stands for `kubectl exec`: no cluster is here, so a command is run beside it, with what the pod is told."""


async def test_a_restore_on_a_cluster(week_dsn: str, tmp_path: Path) -> None:
    """By the owner, who is no superuser, over a database that the overlay's migration has filled already."""
    async with site(tmp_path / "site") as fresh:
        await migrated(fresh, "backup")
        await fresh.shell(ON_THIS_MACHINE + commands("backup on a cluster"), BAOHUANG_POSTGRES_DSN=week_dsn)
        said = await fresh.shell(ON_THIS_MACHINE + commands("restore on a cluster"), SUPERUSER_DSN="")
        assert "nothing is wrong" in said
        await fresh.shell(ON_THIS_MACHINE + commands("backup on a cluster"))
        assert "HandFinished" in await fresh.shell(
            "pg_restore --data-only --file=- backup.dump | grep -m1 HandFinished"
        )
        owners = await fresh.asked("select distinct tableowner from pg_tables where schemaname !~ '^(pg_|inform)'")
        assert [owner for (owner,) in owners] == ["baohuang_owner"]
        hands = await fresh.asked("select count(*) from history.hands")
        assert hands[0][0] > 5


async def migrated(made: Site, backup: str) -> None:
    """Set a new site up as `deploy/` does, with a login for backups that owns nothing."""
    await made.shell('psql --set=ON_ERROR_STOP=1 --dbname="$SUPERUSER_DSN" --file=deploy/postgres/roles.sql')
    with psycopg.connect(made.superuser, autocommit=True) as admin:
        admin.execute(f"create role {backup} in role pg_read_all_data; grant connect on database baohuang to {backup}")
    made.give_passwords(backup)
    await made.shell("baohuang migrate")


async def backed_up_in_play(lost: Site, game: Game, chance: Random) -> None:
    """Have a hand played to its end, and a backup taken in the middle of the next one, while moves are made."""
    await game.all_ready()
    await game.play(chance)
    await game.all_ready()
    for _ in range(40):
        await game.step(chance)
    backup = asyncio.create_task(lost.run("backup", BACKUP_DSN=lost.dsn_of("backup")))
    while not backup.done():
        await game.step(chance)
        assert in_progress(await game.table())
    await backup


async def another_hand(game: Game, chance: Random) -> None:
    await game.all_ready()
    await game.play(chance)


@pytest.mark.timeout(600)
async def test_a_hand_goes_on_after_the_database_and_nats_were_lost(tmp_path: Path) -> None:
    """Both are gone, with moves and a hand that the backup has not: with the page's commands the backup is played on.

    The hand in its middle comes to its end, others follow, and each is scored once and rated once; what was lost is
    lost whole, and nothing is wrong with what there is.
    """
    chance = chance_of("restored")
    async with site(tmp_path / "lost") as lost:
        await migrated(lost, "backup")
        async with lost.serving(TABLE, SCORING, RATING) as services, lost.game(services[TABLE]) as game:
            await backed_up_in_play(lost, game, chance)
            await game.play(chance)
            await another_hand(game, chance)
            table_id, seen = game.table_id, (await game.head()).version
        shutil.copy(lost.folder / "backup.dump", tmp_path)
        await lost.postgres.child.stop(())
    async with site(tmp_path / "found") as found:
        shutil.copy(tmp_path / "backup.dump", found.folder)
        await found.run("restore")
        found.give_passwords()
        said = await found.run("after a restore")
        assert "the stream is the log" in said
        assert "the stream is the ledger" in said
        await plays_on(found, table_id, seen, chance)


async def plays_on(found: Site, table_id: str, seen: int, chance: Random) -> None:
    """With all services the second hand goes on in its middle, and a third is played; all is scored and rated."""
    async with found.serving(TABLE, SCORING, RATING) as services, found.game(services[TABLE], table_id) as game:
        await is_in_its_second_hand(game, seen)
        await game.play(chance)
        await another_hand(game, chance)
        await all_is_rated(found, hands=3)
    await nothing_is_wrong(found)


async def is_in_its_second_hand(game: Game, seen: int) -> None:
    """In its middle, before what was seen in the past that was lost."""
    table = await game.table()
    assert in_progress(table)
    assert table.hands_played == 1
    assert (await game.head()).version < seen


async def all_is_rated(found: Site, hands: int) -> None:
    """Every hand that was finished is posted once, and rated once for each of its five players."""

    async def rated() -> bool:
        counted = await found.asked(
            "select (select count(*) from eventlog.events where type = 'HandFinished'),"
            " (select count(*) from scoring.postings where type = 'HandScored'),"
            " (select array_agg(times) from"
            "    (select count(*) as times from rating.changes where hand is not null group by table_id, hand) as each)"
        )
        return tuple(counted[0]) == (hands, hands, [5] * hands)

    await eventually(rated, SOON)
    await found.shell("baohuang reconcile")


async def nothing_is_wrong(found: Site) -> None:
    """With the log; ledger and ratings are what it gives; both streams are their sources'."""
    verified, rebuilt, _ = await asyncio.gather(
        found.shell("baohuang verify"),
        found.shell("baohuang rebuild scoring && baohuang rebuild rating"),
        found.shell("baohuang rebuild-stream --check && baohuang rebuild-stream scoring --check"),
    )
    assert "nothing is wrong" in verified
    assert "no difference" in rebuilt


@pytest.mark.timeout(600)
async def test_an_older_database_under_a_nats_that_was_kept(tmp_path: Path) -> None:
    """The services are started on it without the commands that empty NATS: whoever meets the lost past says so.

    Scoring books nothing of it; rating, whose source is a service, stops when the other posting comes; and with the
    page's commands for each all is scored once and rated once.
    """
    chance, nats = chance_of("kept"), EmbeddedNats(tmp_path / "kept")
    await nats.start()
    try:
        async with site(tmp_path / "lost", nats) as lost:
            table_id, seen = await past_the_backup(lost, chance)
            shutil.copy(lost.folder / "backup.dump", tmp_path)
            await lost.postgres.child.stop(())
        async with site(tmp_path / "found", nats) as found:
            shutil.copy(tmp_path / "backup.dump", found.folder)
            await found.run("restore")
            found.give_passwords()
            await found.shell("baohuang migrate")
            await finds_its_way(found, table_id, seen, chance)
    finally:
        await nats.destroy()


async def past_the_backup(lost: Site, chance: Random) -> tuple[str, int]:
    """Go on after the backup: a hand is scored and rated, and another one is on the stream that scoring never saw."""
    await migrated(lost, "backup")
    async with lost.serving(TABLE, SCORING, RATING) as services, lost.game(services[TABLE]) as game:
        await backed_up_in_play(lost, game, chance)
        await game.play(chance)
        await all_is_rated(lost, hands=2)
        await services[SCORING].stop()
        await another_hand(game, chance)
        await lost.shell("baohuang rebuild-stream --check")
        return game.table_id, (await game.head()).version


async def finds_its_way(found: Site, table_id: str, seen: int, chance: Random) -> None:
    """Start the services one by one, in the worst order, and do for each what the page says."""
    async with AsyncExitStack() as stack:
        rating = (await stack.enter_async_context(found.serving(RATING)))[RATING]
        await eventually(lambda: is_so(found, "select count(distinct hand) = 2 from rating.changes"), SOON)
        await stack.enter_async_context(found.serving(SCORING))
        await eventually(lambda: is_so(found, "select alarm like '%not in the source' from scoring.checkpoints"), SOON)
        table = (await stack.enter_async_context(found.serving(TABLE)))[TABLE]
        await eventually(lambda: says(found, TABLE, "source ends before its stream"), SOON)
        assert await says(found, SCORING, "source ends before its stream")
        await eventually(lambda: is_streamed(found), SOON)
        assert await is_so(found, "select count(*) = 1 from scoring.postings")
        await found.shell("baohuang clear-alarm scoring")
        game = await stack.enter_async_context(found.game(table, table_id))
        await is_in_its_second_hand(game, seen)
        await game.play(chance)
        await eventually(lambda: is_so(found, "select alarm is not null from rating.checkpoints"), SOON)
        await found.shell("! baohuang clear-alarm rating")
        await rating.stop()
        await found.run("rating anew")
        await rating.start()
        await another_hand(game, chance)
        await all_is_rated(found, hands=3)
    await nothing_is_wrong(found)


async def is_so(found: Site, question: str) -> bool:
    """Ask the database what is so or not; no answer is no."""
    rows = await found.asked(question)
    return bool(rows and rows[0][0])


async def says(found: Site, service: Service, text: str) -> bool:
    """Tell whether a service has such a line in its log."""
    return text in (found.folder / service.name / "log").read_text(encoding="utf-8")


async def is_streamed(found: Site) -> bool:
    """Tell whether the log's stream is as long as the log."""
    (row,) = await found.asked("select count(*) from eventlog.events")
    async with connect_to(found.nats.url_of(NatsUser.OPERATOR), "looking")() as client:
        try:
            return bool((await JetStream(client, TABLE_STREAM).end()).number == row[0])
        except StreamError:
            return False
