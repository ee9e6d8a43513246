"""Names that change hands within one flush of the log on PostgreSQL."""

import asyncio
from collections.abc import Sequence

from msgspec.structs import replace

from baohuang.eventlog.port import Append, Appended, ClaimName, NewEvent, Outcome, Refused
from baohuang.eventlog.postgres.log import PostgresLog
from eventlog.commands import accepted, after, command, new_name, new_stream

CLAIMED_ONCE = Refused("a_name_is_claimed_once")
BROKEN = (NewEvent("", b"{}"),)
"""Events that have a flush refused by a constraint, and settled one by one."""


async def holding(log: PostgresLog, *names: ClaimName) -> Append:
    """Make a stream that holds these names, and give a command that follows, without claims."""
    stream_id = new_stream()
    return after(stream_id, await accepted(log, command(stream_id, claims=names)))


async def in_one_flush(log: PostgresLog, *commands: Append) -> Sequence[Outcome]:
    """Append commands that wait together, and check that the last flush was all of them."""
    outcomes = await asyncio.gather(*(log.append(one) for one in commands))
    assert {waiting.command.command.request_id for waiting in log._commits._in_flight} == {
        one.request_id for one in commands
    }
    return outcomes


async def test_one_hand_ends_as_the_next_begins(postgres_log: PostgresLog) -> None:
    """A name given up is claimed in the same flush, even by who came first; in the log it is given up first."""
    name = new_name()
    one = await holding(postgres_log, name)
    other = command(new_stream(), claims=(name,))
    began, ended = await in_one_flush(postgres_log, other, replace(one, releases=(name,)))
    assert isinstance(began, Appended)
    assert isinstance(ended, Appended)
    assert ended.position < began.position
    assert await postgres_log.holders([name]) == {name: other.stream_id}


async def test_beside_something_refused(postgres_log: PostgresLog) -> None:
    """A name changes hands in a flush that a constraint has settled one by one, as in any other."""
    name = new_name()
    one = await holding(postgres_log, name)
    other = command(new_stream(), claims=(name,))
    broken = command(new_stream(), events=BROKEN)
    began, refused, ended = await in_one_flush(postgres_log, other, broken, replace(one, releases=(name,)))
    assert (type(began), type(ended)) == (Appended, Appended)
    assert refused == Refused("an_event_has_a_type")
    assert await postgres_log.holders([name]) == {name: other.stream_id}


async def test_a_name_goes_from_hand_to_hand(postgres_log: PostgresLog) -> None:
    """Who gives one name up and takes another goes after who only gives up and before who only takes."""
    a, b = new_name(), new_name()
    first, second = await holding(postgres_log, a), await holding(postgres_log, b)
    third = command(new_stream(), claims=(b,))
    outcomes = await in_one_flush(
        postgres_log, third, replace(second, releases=(b,), claims=(a,)), replace(first, releases=(a,))
    )
    assert [type(outcome) for outcome in outcomes] == [Appended] * 3
    assert await postgres_log.holders([a, b]) == {a: second.stream_id, b: third.stream_id}


async def test_names_are_not_swapped(postgres_log: PostgresLog) -> None:
    """Two streams that each want the other's name are refused: in whatever order, the first of them could not go."""
    a, b = new_name(), new_name()
    first, second = await holding(postgres_log, a), await holding(postgres_log, b)
    outcomes = await in_one_flush(
        postgres_log,
        replace(first, releases=(a,), claims=(b,)),
        replace(second, releases=(b,), claims=(a,)),
        command(new_stream()),
    )
    assert outcomes[:2] == [CLAIMED_ONCE, CLAIMED_ONCE]
    assert isinstance(outcomes[2], Appended)
    assert await postgres_log.holders([a, b]) == {a: first.stream_id, b: second.stream_id}


async def test_two_claims_of_one_flush(postgres_log: PostgresLog) -> None:
    """The first of a flush to claim a name has it, the second is refused, the others are appended."""
    name = new_name()
    commands = [command(new_stream(), claims=(name,) if n in {1, 3} else ()) for n in range(5)]
    outcomes = await in_one_flush(postgres_log, *commands)
    assert outcomes[3] == CLAIMED_ONCE
    assert [type(outcome) for outcome in outcomes] == [Appended, Appended, Appended, Refused, Appended]
    assert await postgres_log.holders([name]) == {name: commands[1].stream_id}


async def test_unclaimed_beside_a_claim(postgres_log: PostgresLog) -> None:
    """In one flush with the claim, the command that wants the name unclaimed goes before it: nobody holds it yet."""
    name = new_name()
    claiming = command(new_stream(), claims=(name,))
    wary = command(new_stream(), unclaimed=(name,))
    claimed, passed = await in_one_flush(postgres_log, claiming, wary)
    assert isinstance(claimed, Appended)
    assert isinstance(passed, Appended)
    assert passed.position < claimed.position
    late = command(new_stream(), unclaimed=(name,), claims=(new_name(),))
    assert await postgres_log.append(late) == Refused("a_name_is_unclaimed")


async def test_unclaimed_after_a_release(postgres_log: PostgresLog) -> None:
    """A name given up in the flush does not stand in the way; one that its taker has already taken does."""
    a, b = new_name(), new_name()
    first, second = await holding(postgres_log, a), await holding(postgres_log, b)
    wary = command(new_stream(), unclaimed=(b,))
    warier = command(new_stream(), unclaimed=(a,))
    outcomes = await in_one_flush(
        postgres_log, wary, warier, replace(first, releases=(a,)), replace(second, releases=(b,), claims=(a,))
    )
    assert [type(outcome) for outcome in outcomes] == [Appended, Refused, Appended, Appended]
    assert outcomes[1] == Refused("a_name_is_unclaimed")
