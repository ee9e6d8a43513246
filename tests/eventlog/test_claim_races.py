"""Replicas that want the same names at the same time."""

import asyncio
from collections.abc import Sequence

import asyncpg
import msgspec
import pytest
from msgspec.structs import replace

from baohuang.database.group_commit import Pace
from baohuang.eventlog.port import (
    NO_HASH,
    NO_VERSION,
    Append,
    Appended,
    ClaimName,
    Duplicate,
    EventLog,
    NewEvent,
    Refused,
    StoredEvent,
    StreamId,
    VersionConflict,
)
from baohuang.eventlog.postgres.connections import Limits
from baohuang.eventlog.postgres.log import PostgresLog, open_log
from eventlog.commands import accepted, after, command, new_name, new_stream
from eventlog.transactions import append_within, open_transaction, waits_for_a_lock
from eventually import eventually

CLAIMED_ONCE = Refused("a_name_is_claimed_once")
UNCLAIMED = Refused("a_name_is_unclaimed")


async def was_busy(log: PostgresLog) -> bool:
    """Tell whether a command has been sent, has found something busy and waits to be sent again."""
    return bool(log._commits._in_flight and log._commits._queue.length)


async def test_two_replicas_claim_one_name(postgres_log: PostgresLog, database_dsn: str) -> None:
    """The second to claim it waits for the first to be committed and is refused; meanwhile everybody else goes on."""
    name = new_name()
    first, second = command(new_stream(), claims=(name,)), command(new_stream(), claims=(name,))
    async with open_transaction(database_dsn) as somebody:
        # Their names are locked before anything is written, so the first may hold no position yet: others are not kept.
        await somebody.execute(
            "select pg_advisory_xact_lock('eventlog.claims'::regclass::oid::integer, hashtext($1))", name
        )
        claiming = asyncio.create_task(postgres_log.append(second))
        await eventually(lambda: was_busy(postgres_log))
        async with asyncio.timeout(2):
            for _ in range(5):
                await accepted(postgres_log, command(new_stream(), claims=(new_name(),)))
        assert not claiming.done()
        await append_within(somebody, first)
        await somebody.execute("commit")
    assert await claiming == CLAIMED_ONCE
    assert await postgres_log.holders([name]) == {name: first.stream_id}
    assert await postgres_log.head(second.stream_id) is None


@pytest.mark.parametrize(("use", "refused"), [("claims", CLAIMED_ONCE), ("unclaimed", UNCLAIMED)])
@pytest.mark.parametrize("end", ["commit", "rollback"])
async def test_a_claim_that_is_not_committed_yet(
    postgres_log: PostgresLog, database_dsn: str, use: str, refused: Refused, end: str
) -> None:
    """Another replica is told nothing before it is: refused if it was, appended if it came to nothing."""
    name = new_name()
    late = replace(command(new_stream()), **{use: (name,)})
    async with open_transaction(database_dsn) as somebody:
        await append_within(somebody, command(new_stream(), claims=(name,)))
        outcome = asyncio.create_task(postgres_log.append(late))
        await eventually(lambda: was_busy(postgres_log))
        assert not outcome.done()
        await somebody.execute(end)
    found = await outcome
    assert isinstance(found, Appended) if end == "rollback" else found == refused


@pytest.mark.parametrize("end", ["commit", "rollback"])
async def test_a_release_crosses_a_claim(postgres_log: PostgresLog, database_dsn: str, end: str) -> None:
    """One replica gives a name up as another claims it: the claim has it if that is committed, else it is refused."""
    name = new_name()
    stream_id, other = new_stream(), command(new_stream(), claims=(name,))
    held = await accepted(postgres_log, command(stream_id, claims=(name,)))
    async with open_transaction(database_dsn) as somebody:
        await append_within(somebody, replace(after(stream_id, held), releases=(name,)))
        claiming = asyncio.create_task(postgres_log.append(other))
        await eventually(lambda: was_busy(postgres_log))
        assert not claiming.done()
        await somebody.execute(end)
    outcome = await claiming
    assert isinstance(outcome, Appended) if end == "commit" else outcome == CLAIMED_ONCE
    holder = other.stream_id if end == "commit" else stream_id
    assert await postgres_log.holders([name]) == {name: holder}


async def test_one_request_from_two_replicas(postgres_log: PostgresLog, database_dsn: str) -> None:
    """The same request for two new streams, both to hold one name: the second is a duplicate and not refused."""
    name = new_name()
    first = command(new_stream(), request_id=f"once-{name}", claims=(name,))
    async with open_transaction(database_dsn) as somebody:
        await append_within(somebody, first)
        again = asyncio.create_task(postgres_log.append(replace(first, stream_id=new_stream())))
        await eventually(lambda: was_busy(postgres_log))
        await somebody.execute("commit")
    outcome = await again
    assert isinstance(outcome, Duplicate)
    assert outcome.stream_id == first.stream_id


async def test_the_constraint_holds_by_itself(database_dsn: str) -> None:
    """Who writes a claim past the append and its locks still keeps others out: the name is the primary key."""
    name = new_name()
    async with open_log(database_dsn, limits=Limits(lock_ms=5_000)) as log:
        async with open_transaction(database_dsn) as somebody:
            await somebody.execute("insert into eventlog.claims (name, stream_id) values ($1, 'elsewhere')", name)
            claiming = asyncio.create_task(log.append(command(new_stream(), claims=(name,))))
            beside = asyncio.create_task(log.append(command(new_stream())))
            await eventually(lambda: waits_for_a_lock(somebody))
            await somebody.execute("commit")
        assert await claiming == CLAIMED_ONCE
        assert isinstance(await beside, Appended)


NAMES = 4
PLAYERS_A_HAND = 3


async def play_hands(log: EventLog, names: Sequence[ClaimName], seat: int, hands: int) -> int:
    """Claim some names and give them up, so many times, and return how often somebody else had them."""
    stream_id, refused = new_stream(), 0
    end: Appended | VersionConflict = VersionConflict(NO_VERSION, NO_HASH)
    for hand in range(hands):
        # Forth or back, for no caller promises an order.
        wanted = tuple(names[(seat + hand + n * (-1) ** seat) % NAMES] for n in range(PLAYERS_A_HAND))
        outcome = await log.append(told(stream_id, end, claims=wanted))
        if outcome == CLAIMED_ONCE:
            refused += 1
            continue
        assert isinstance(outcome, Appended), outcome
        end = await accepted(log, told(stream_id, outcome, releases=wanted))
    return refused


def told(
    stream_id: StreamId,
    end: Appended | VersionConflict,
    *,
    claims: tuple[ClaimName, ...] = (),
    releases: tuple[ClaimName, ...] = (),
) -> Append:
    """Make a command whose event tells of its claims."""
    event = NewEvent("Told", msgspec.json.encode({"claims": claims, "releases": releases}))
    return replace(after(stream_id, end, event), claims=claims, releases=releases)


async def test_many_hands_of_few_players(own_database_dsn: str) -> None:
    """Three replicas, 18 tables, four names: in the order of the log no name has two holders, and nobody is stuck."""
    names = [new_name() for _ in range(NAMES)]
    patient = Pace(patience=30)
    async with (
        open_log(own_database_dsn, pace=patient) as one,
        open_log(own_database_dsn, pace=patient) as two,
        open_log(own_database_dsn, pace=patient) as three,
    ):
        logs = [one, two, three] * 6
        refused = await asyncio.gather(*(play_hands(log, names, seat, 12) for seat, log in enumerate(logs)))
        assert await one.holders(names) == {}
        check_one_holder(await one.read_all(limit=100_000), refusals=sum(refused), hands=12 * len(logs))
    admin = await asyncpg.connect(own_database_dsn)
    # A session's statistics are complete once it has ended.
    assert await admin.fetchval("select deadlocks from pg_stat_database where datname = current_database()") == 0
    await admin.close()


def check_one_holder(events: Sequence[StoredEvent], refusals: int, hands: int) -> None:
    """Follow the names through the log: each is taken when free and given up by its holder."""
    holders: dict[str, StreamId] = {}
    for event in events:
        data = msgspec.json.decode(event.data)
        for name in data["releases"]:
            assert holders.pop(name) == event.stream_id
        for name in data["claims"]:
            assert holders.setdefault(name, event.stream_id) == event.stream_id
    assert holders == {}
    assert len(events) == 2 * (hands - refusals)
    assert 0 < refusals < hands
