"""A flush with something wrong in it: what is wrong hurts itself alone and leaves no hole."""

import asyncio
from collections import Counter
from collections.abc import Sequence

import asyncpg
import pytest

from baohuang.eventlog.port import (
    Append,
    Appended,
    Duplicate,
    LogCorrupted,
    NewEvent,
    Outcome,
    Refused,
    Unstorable,
    VersionConflict,
)
from baohuang.eventlog.postgres.log import PostgresLog
from eventlog.commands import accepted, after, command, grow, new_stream

POISON = NewEvent("CardsPlayed", b'{"name":"\\u0000"}')


async def together(log: PostgresLog, commands: Sequence[Append]) -> list[Outcome | BaseException]:
    """Append commands that wait together, and so go in one flush."""
    return await asyncio.gather(*(log.append(one) for one in commands), return_exceptions=True)


async def check_contiguous(log: PostgresLog) -> None:
    """Check that positions are 1, 2, 3, … without a hole."""
    positions = [event.position for event in await log.read_all(limit=100_000)]
    assert positions == list(range(1, len(positions) + 1))


async def test_a_poisonous_command_hurts_itself_alone(postgres_log: PostgresLog) -> None:
    """One command that no database can hold among twenty: nineteen are appended."""
    commands = [command(new_stream()) for _ in range(19)]
    commands.insert(7, command(new_stream(), events=(POISON,)))
    outcomes = await together(postgres_log, commands)
    assert isinstance(outcomes.pop(7), Unstorable)
    assert Counter(type(outcome) for outcome in outcomes) == {Appended: 19}
    await check_contiguous(postgres_log)


async def test_every_outcome_in_one_flush(postgres_log: PostgresLog) -> None:
    """Appended, conflict, duplicate, refused and corrupted are told apart command by command."""
    streams = [new_stream() for _ in range(5)]
    ends = [await grow(postgres_log, stream_id, 2) for stream_id in streams]
    again = command(new_stream(), request_id=f"again-{streams[0]}")
    await accepted(postgres_log, again)
    outcomes = await together(
        postgres_log,
        [
            after(streams[0], ends[0]),
            command(streams[1], 1, ends[1].hash),
            command(streams[2], 2, bytes(32)),
            again,
            after(streams[3], ends[3], NewEvent("", b"{}")),
            after(streams[4], ends[4]),
        ],
    )
    kinds = [Appended, VersionConflict, LogCorrupted, Duplicate, Refused, Appended]
    assert [type(outcome) for outcome in outcomes] == kinds
    await check_contiguous(postgres_log)


async def test_commands_of_several_events_among_refused_ones(postgres_log: PostgresLog) -> None:
    """Each command is told the position its own last event has, whatever was refused before it."""
    many = (NewEvent("CardsPlayed", b"{}"),) * 3
    wanted = [command(new_stream(), events=many if n % 2 else many[:1]) for n in range(8)]
    wanted[2] = command(new_stream(), events=(NewEvent("", b"{}"),))
    wanted[5] = command(wanted[4].stream_id, 9)
    for one, outcome in zip(wanted, await together(postgres_log, wanted), strict=True):
        if isinstance(outcome, Appended):
            stored = await postgres_log.read_stream(one.stream_id)
            assert [event.position for event in stored] == [event.position for event in outcome.events]
            assert outcome.position == stored[-1].position
    assert (await postgres_log.head(wanted[2].stream_id), await postgres_log.head(wanted[7].stream_id)) != (None, None)
    await check_contiguous(postgres_log)


@pytest.fixture
async def one_table_a_player(database_dsn: str) -> None:
    """Add a rule across streams, as a later schema may: nobody hosts two tables."""
    connection = await asyncpg.connect(database_dsn)
    await connection.execute(
        "create unique index if not exists a_player_hosts_one_table on eventlog.heads ((summary ->> 'host'))"
    )
    await connection.close()


async def test_a_rule_across_streams_refuses_one(postgres_log: PostgresLog, one_table_a_player: None) -> None:
    """Of two commands in one flush that only together break a rule one is appended, and all the others too."""
    host = new_stream()
    wanted = [command(new_stream(), summary=f'{{"host":"{host}-{n % 9}"}}'.encode()) for n in range(10)]
    outcomes = await together(postgres_log, wanted)
    assert outcomes[9] == Refused("a_player_hosts_one_table")
    assert [type(outcome) for outcome in outcomes[:9]] == [Appended] * 9
    assert await postgres_log.find_request(wanted[9].actor, wanted[9].request_id) is None
    await check_contiguous(postgres_log)


@pytest.fixture
async def a_deferred_rule(database_dsn: str) -> None:
    """Add a rule that is looked at when the transaction commits."""
    connection = await asyncpg.connect(database_dsn)
    await connection.execute("""
        create or replace function refuse_late() returns trigger language plpgsql as $$
        begin
            raise exception 'too late' using errcode = '23514', constraint = 'nobody_is_late';
        end
        $$;
        drop trigger if exists nobody_is_late on eventlog.heads;
        create constraint trigger nobody_is_late after insert on eventlog.heads
            deferrable initially deferred for each row when (new.summary ? 'late') execute function refuse_late();
    """)
    await connection.close()


async def test_a_rule_that_speaks_at_the_commit(postgres_log: PostgresLog, a_deferred_rule: None) -> None:
    """A deferred constraint fails the flush as a whole; sent one by one, it refuses the one it means."""
    wanted = [command(new_stream()) for _ in range(6)]
    wanted[3] = command(new_stream(), summary=b'{"late":true}')
    outcomes = await together(postgres_log, wanted)
    assert outcomes.pop(3) == Refused("nobody_is_late")
    assert Counter(type(outcome) for outcome in outcomes) == {Appended: 5}
    await check_contiguous(postgres_log)
