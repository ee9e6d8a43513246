"""A ruling that a superuser wrote into the log, or changed, every hash made anew, is not taken back (RULE-1)."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

import asyncpg
import grpc
import pytest
from msgspec import structs

from audit.forging import Forger, first_of, with_fields
from audit.honest import Play, written
from baohuang.eventlog.port import StoredEvent, StreamId
from baohuang.eventlog.postgres.log import PostgresLog, open_log
from baohuang.gen.history.v1 import history_service_pb2 as pb
from baohuang.rules import events as ev
from baohuang.rules.state import PlayerId, TableId, TrusteeshipReason
from databases import Server
from tables.changes import operator
from tables.clients import Client, fresh
from tables.replicas import replica

TABLE = StreamId("01234567-89ab-7def-8123-456789012340")
Events = list[StoredEvent]
Change = Callable[[Events], Sequence[StoredEvent]]


@pytest.fixture(scope="module")
def played_database(postgres_server: Server, template_database: str) -> Iterator[str]:
    """Give the name of a database with a fine and a void hand, none of which was taken back."""
    with postgres_server.database(template_database) as name:
        asyncio.run(play_all(postgres_server.dsn_of(name)))
        yield name


async def play_all(dsn: str) -> None:
    """Have a hand played by trustees."""
    async with open_log(dsn) as log:
        commands = list(Play(TableId(TABLE), "homy-standard", 1).all_trustees())
        reversals = (ev.FineReversed, ev.VoidReversed)
        await written(log, TableId(TABLE), [one for one in commands if not isinstance(one[1][0], reversals)])


@pytest.fixture
async def judge(log: PostgresLog) -> AsyncIterator[Client]:
    """Give an operator, asking a service that has not read the log yet."""
    async with replica(log) as service:
        yield operator(service)


def changed(kind: type[ev.Event], **changes: Any) -> Change:
    """Have the event of a kind say something else."""

    def change(events: Events) -> Events:
        place = first_of(events, kind)
        return [*events[:place], with_fields(events[place], **changes), *events[place + 1 :]]

    return change


def fined_by_hand(events: Events) -> Events:
    """Put a fine of another player in the place of the last trusteeship."""
    fine = events[first_of(events, ev.PlayerFined)]
    place = max(index for index, event in enumerate(events) if event.type == "TrusteeshipEntered")
    forged = with_fields(fine, seat=3, player=PlayerId("du"))
    return [*events[:place], structs.replace(events[place], type=forged.type, data=forged.data), *events[place + 1 :]]


def fined_in_the_end(events: Events) -> Events:
    """Have another fine of the same seat as the last event of all."""
    last, fine = events[-1], events[first_of(events, ev.PlayerFined)]
    return [*events[:-1], structs.replace(last, type=fine.type, data=fine.data)]


def reverse(version: int) -> pb.ReverseRulingRequest:
    """Ask to take a ruling back."""
    return pb.ReverseRulingRequest(request_id=fresh(), table_id=TABLE, version=version, reason="a bribe")


async def versions(log: PostgresLog, kind: type[ev.Event]) -> list[int]:
    """Return the versions of all events of a kind."""
    return [one.version for one in await log.read_stream(TABLE, limit=100_000) if one.type == kind.__name__]


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (changed(ev.PlayerFined, points=-40), ev.PlayerFined),
        (changed(ev.PlayerFined, points=-400), ev.PlayerFined),
        (fined_by_hand, ev.PlayerFined),
        (fined_in_the_end, ev.PlayerFined),
        (changed(ev.HandFinished, places=(4, 3, 2, 1, 0)), ev.HandVoided),
        (changed(ev.TrusteeshipEntered, reason=TrusteeshipReason.TIMEOUT), ev.HandVoided),
    ],
    ids=["more", "absurd", "another's", "after it", "places", "the hand before it"],
)
async def test_a_ruling_that_does_not_follow(
    log: PostgresLog, superuser: asyncpg.Connection, judge: Client, change: Change, kind: type[ev.Event]
) -> None:
    """RECORD_DISPUTED by RULE-1, with the version from which on the record differs; nothing is appended."""
    before = await log.read_stream(TABLE, limit=100_000)
    await Forger(superuser, log).rewrite(TABLE, change)
    forged = await log.read_stream(TABLE, limit=100_000)
    differs = next(now.version for now, then in zip(forged, before, strict=True) if now.data != then.data)
    for version in await versions(log, kind):
        refused = await judge.refused(reverse(version))
        assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "RECORD_DISPUTED")
        assert refused.metadata == {"rule": "RULE-1", "version": str(differs)}
    assert await log.read_stream(TABLE, limit=100_000) == forged


async def test_hashes_that_do_not_hold(log: PostgresLog, superuser: asyncpg.Connection, judge: Client) -> None:
    """The same for who changes an event and no hash."""
    (fined,) = await versions(log, ev.PlayerFined)
    await superuser.execute(
        "update eventlog.events set data = jsonb_set(data, '{points}', '-40') where stream_id = $1 and version = $2",
        TABLE, fined,
    )  # fmt: skip
    assert (await judge.refused(reverse(fined))).metadata == {"rule": "RULE-1", "version": str(fined)}


async def test_what_was_taken_back_before_the_forgery(
    log: PostgresLog, superuser: asyncpg.Connection, judge: Client
) -> None:
    """A retry gets the first outcome whatever became of the record since (AIP-155)."""
    (fined,) = await versions(log, ev.PlayerFined)
    request = reverse(fined)
    done = await judge.call(request)
    await superuser.execute(
        "update eventlog.events set data = jsonb_set(data, '{points}', '-40') where stream_id = $1 and version = $2",
        TABLE, fined,
    )  # fmt: skip
    assert await judge.call(request) == done
    assert (await judge.refused(reverse(fined))).reason == "RECORD_DISPUTED"
