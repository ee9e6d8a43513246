"""A ruling taken back that was not, or otherwise: found in a log whose hashes a superuser made anew (RULE-1)."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import asyncpg
import pytest
from msgspec import structs

from audit.forging import Forger, first_of, with_fields
from audit.honest import Play, written
from baohuang.audit.findings import Check
from baohuang.audit.log import LogAudit
from baohuang.eventlog.port import Actor, RequestId, StoredEvent, StreamId
from baohuang.eventlog.postgres.log import PostgresLog, open_log
from baohuang.rules import events as ev
from baohuang.rules.state import PlayerId, TableId
from databases import Server

Events = list[StoredEvent]
Change = Callable[[Events], Sequence[StoredEvent]]
TRUSTED = StreamId("trusted")


@pytest.fixture(scope="module")
def played_database(postgres_server: Server, template_database: str) -> Iterator[str]:
    """Give the name of a database with a hand whose fine and whose being void were taken back."""
    with postgres_server.database(template_database) as name:
        asyncio.run(play_all(postgres_server.dsn_of(name)))
        yield name


async def play_all(dsn: str) -> None:
    """Have a hand played by trustees."""
    async with open_log(dsn) as log:
        play = Play(TableId(TRUSTED), "homy-standard", 1)
        await written(log, play.table_id, play.all_trustees())


def changed(kind: type[ev.Event], **changes: Any) -> Change:
    """Have the event of a kind say something else."""

    def change(events: Events) -> Events:
        place = first_of(events, kind)
        return [*events[:place], with_fields(events[place], **changes), *events[place + 1 :]]

    return change


def again(kind: type[ev.Event]) -> Change:
    """Have an operator take a ruling back that was taken back."""

    def change(events: Events) -> Events:
        taken_back = events[first_of(events, kind)]
        other = structs.replace(taken_back, request_id=RequestId("again"), position=events[-1].position + 1)
        return [*events, other]

    return change


def of_the_service(events: Events) -> Events:
    """Have the service itself take a fine back."""
    place = first_of(events, ev.FineReversed)
    return [*events[:place], structs.replace(events[place], actor=Actor("@clock")), *events[place + 1 :]]


@pytest.mark.parametrize(
    ("change", "kind", "told"),
    [
        (changed(ev.FineReversed, points=200), ev.FineReversed, "points 200 is recorded, 20 follows"),
        (changed(ev.FineReversed, player=PlayerId("bo")), ev.FineReversed, "player 'bo' is recorded, 'an' follows"),
        (changed(ev.FineReversed, seat=3), ev.FineReversed, "seat 3 is recorded, 0 follows"),
        (changed(ev.FineReversed, reverses=3), ev.FineReversed, "only fines can be taken back"),
        (changed(ev.FineReversed, rests_on=()), ev.FineReversed, "rests_on () is recorded"),
        (changed(ev.VoidReversed, points=(40, -10, -10, -10, -10)), ev.VoidReversed, "points (40, "),
        (changed(ev.VoidReversed, places=(0, 1, 2, 3, 4)), ev.VoidReversed, "places (0, 1, 2, 3, 4) is recorded"),
        (changed(ev.VoidReversed, reverses=1), ev.VoidReversed, "only fines can be taken back"),
        (of_the_service, ev.FineReversed, "by the service itself"),
    ],
    ids=lambda value: value.__name__ if hasattr(value, "__name__") else None,
)
async def test_a_reversal_that_does_not_follow(
    log: PostgresLog, superuser: asyncpg.Connection, change: Change, kind: type[ev.Event], told: str
) -> None:
    """Of another amount, another player, other places; of a ruling that is not there."""
    version = first_of(list(await log.read_stream(TRUSTED, limit=100_000)), kind) + 1
    await Forger(superuser, log).rewrite(TRUSTED, change)
    found = [one async for one in LogAudit(log).stream(TRUSTED)]
    assert found[0].version == version
    assert {one.check for one in found} == {Check.RULING}
    assert found[0].clause == "RULE-1"
    assert told in found[0].message


@pytest.mark.parametrize("kind", [ev.FineReversed, ev.VoidReversed])
async def test_a_ruling_taken_back_twice(log: PostgresLog, superuser: asyncpg.Connection, kind: type[ev.Event]) -> None:
    """The second one could not come about."""
    version = len(await log.read_stream(TRUSTED, limit=100_000)) + 1
    await Forger(superuser, log).rewrite(TRUSTED, again(kind))
    (found,) = [one async for one in LogAudit(log).stream(TRUSTED)]
    assert (found.check, found.version, found.clause) == (Check.RULING, version, "RULE-1")
    assert "it was taken back at version" in found.message


async def test_a_fine_that_was_left_out(log: PostgresLog, superuser: asyncpg.Connection) -> None:
    """Points that come back without having been taken are found where the fine is missing."""
    version = first_of(list(await log.read_stream(TRUSTED, limit=100_000)), ev.PlayerFined) + 1
    await Forger(superuser, log).rewrite(TRUSTED, lambda events: [*events[: version - 1], *events[version:]])
    found = [one async for one in LogAudit(log).stream(TRUSTED)]
    assert found[0].version == version
    assert found[0].check is Check.RULING
