"""Names that one stream at a time holds, asked of each event log."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta

import pytest
from msgspec.structs import replace

from baohuang.eventlog.port import (
    NO_HASH,
    Append,
    Appended,
    ClaimName,
    Duplicate,
    EventLog,
    LogCorrupted,
    NewEvent,
    Outcome,
    Refused,
    TooEarly,
    Unstorable,
    VersionConflict,
)
from eventlog.commands import accepted, command, new_name, new_stream

CLAIMED_ONCE = Refused("a_name_is_claimed_once")
UNCLAIMED = Refused("a_name_is_unclaimed")
UNNAMED = Refused("a_claim_is_named")
NAMELESS_EVENT = (NewEvent("", b"{}"),)


async def together(log: EventLog, *commands: Append) -> Sequence[Outcome]:
    """Append commands that wait together, and so go in one flush."""
    return await asyncio.gather(*(log.append(one) for one in commands))


def kinds(outcomes: Sequence[Outcome]) -> Sequence[str]:
    """Name the kinds of outcomes."""
    return [type(outcome).__name__ for outcome in outcomes]


def then(before: Append, end: Appended) -> Append:
    """Make a command without claims that follows another."""
    return command(before.stream_id, end.version, end.hash)


async def holding(log: EventLog, *names: ClaimName) -> Append:
    """Make a stream that holds these names, and give a command that follows, without claims."""
    first = command(new_stream(), claims=names)
    return then(first, await accepted(log, first))


async def test_a_name_has_one_holder(log: EventLog) -> None:
    """Who claims a name holds it; only what somebody holds is told."""
    mine, theirs, free = new_name(), new_name(), new_name()
    one, other = await holding(log, mine), await holding(log, theirs)
    assert await log.holders([theirs, free, mine, mine]) == {mine: one.stream_id, theirs: other.stream_id}
    assert await log.holders([]) == {}


async def test_another_stream_is_refused(log: EventLog) -> None:
    """It writes nothing, takes none of the other names it wants, and its request id stays free."""
    taken, free = new_name(), new_name()
    one = await holding(log, taken)
    late = command(new_stream(), claims=(free, taken))
    assert await log.append(late) == CLAIMED_ONCE
    assert await log.head(late.stream_id) is None
    assert await log.find_request(late.actor, late.request_id) is None
    assert await log.holders([taken, free]) == {taken: one.stream_id}
    await accepted(log, replace(late, claims=(free,)))


async def test_holding_it_already_is_fine(log: EventLog) -> None:
    """The holder may claim its name again, twice in one append too."""
    name = new_name()
    one = await holding(log, name)
    await accepted(log, replace(one, claims=(name, name)))
    assert await log.holders([name]) == {name: one.stream_id}


async def test_a_name_given_up_is_free(log: EventLog) -> None:
    """After its release another stream may claim it, and the first may not any more."""
    name = new_name()
    first = await holding(log, name)
    end = await accepted(log, replace(first, releases=(name, name)))
    assert await log.holders([name]) == {}
    second = await holding(log, name)
    assert await log.append(replace(then(first, end), claims=(name,))) == CLAIMED_ONCE
    assert await log.holders([name]) == {name: second.stream_id}


async def test_a_release_of_what_it_does_not_hold_has_no_effect(log: EventLog) -> None:
    """Neither of another stream's name nor of nobody's."""
    name, nobodys = new_name(), new_name()
    one = await holding(log, name)
    await accepted(log, command(new_stream(), releases=(name, nobodys)))
    assert await log.holders([name, nobodys]) == {name: one.stream_id}


async def test_released_and_claimed_in_one_append(log: EventLog) -> None:
    """Names are given up before others are taken, so one in both is held."""
    kept, old, new = new_name(), new_name(), new_name()
    one = await holding(log, kept, old)
    await accepted(log, replace(one, claims=(new, kept), releases=(old, kept)))
    assert await log.holders([kept, old, new]) == dict.fromkeys([kept, new], one.stream_id)


async def test_an_append_without_claims_leaves_them(log: EventLog) -> None:
    """A stream holds its names until it gives them up."""
    name = new_name()
    one = await holding(log, name)
    await accepted(log, one)
    assert await log.holders([name]) == {name: one.stream_id}


async def test_unclaimed_means_by_others(log: EventLog) -> None:
    """A name nobody or the stream itself holds does not stand in the way, one of another stream does."""
    name = new_name()
    await accepted(log, command(new_stream(), unclaimed=(name,)))
    assert await log.holders([name]) == {}
    one = await holding(log, name)
    end = await accepted(log, replace(one, unclaimed=(name,), claims=(name,)))
    late = command(new_stream(), unclaimed=(new_name(), name))
    assert await log.append(late) == UNCLAIMED
    assert await log.head(late.stream_id) is None
    await accepted(log, replace(then(one, end), releases=(name,)))
    await accepted(log, late)


async def test_names_are_looked_at_last(log: EventLog) -> None:
    """A duplicate, a conflict, a corrupted head and an early command are told as such, whatever they claim."""
    name = new_name()
    one = await holding(log, name)
    other = command(new_stream())
    end = await accepted(log, other)
    later = await log.clock() + timedelta(hours=1)
    outcomes = [
        await log.append(replace(wanted, claims=(name,), unclaimed=(name,)))
        for wanted in (
            replace(other, stream_id=one.stream_id),
            other,
            command(other.stream_id),
            replace(then(other, end), not_before=later),
            then(other, end),
        )
    ]
    expected = (Duplicate, Duplicate, VersionConflict, TooEarly, Refused)
    assert [type(outcome) for outcome in outcomes] == list(expected)
    assert outcomes[-1] == CLAIMED_ONCE
    with pytest.raises(LogCorrupted):
        await log.append(replace(then(other, end), expected_hash=NO_HASH, claims=(name,)))


@pytest.mark.parametrize("use", ["claims", "releases", "unclaimed"])
async def test_a_name_is_not_empty(log: EventLog, use: str) -> None:
    """An empty name is refused alone, by the name of its rule, whatever is done with it."""
    names = (new_name(), ClaimName(""))
    broken = replace(command(new_stream()), **{use: names})
    outcomes = await together(log, command(new_stream()), broken, command(new_stream()))
    assert kinds(outcomes) == ["Appended", "Refused", "Appended"]
    assert outcomes[1] == UNNAMED
    assert await log.holders(names) == {}


@pytest.mark.parametrize("use", ["claims", "releases", "unclaimed"])
@pytest.mark.parametrize("name", ["a\0b", "lone \ud800"])
async def test_a_name_is_a_text(log: EventLog, use: str, name: str) -> None:
    """NUL and half a character are no text of any database: that command alone cannot be stored."""
    broken = replace(command(new_stream()), **{use: (ClaimName(name),)})
    fine = command(new_stream())
    outcomes = await asyncio.gather(log.append(broken), log.append(fine), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [Unstorable, Appended]
    assert await log.head(broken.stream_id) is None


async def test_names_differ_by_their_bytes(log: EventLog) -> None:
    """Case, blanks and Unicode forms make names of their own: no collation says otherwise."""
    base = new_name()
    names = [ClaimName(base + tail) for tail in ("", " ", "\u00e9", "e\u0301", "ß", "ss", "SS", "皇")]
    streams = [(await holding(log, name)).stream_id for name in names]
    assert await log.holders(names) == dict(zip(names, streams, strict=True))


async def test_refused_alone_among_others(log: EventLog) -> None:
    """In a flush with commands that break a rule of names all others are appended, without a hole."""
    taken, free = new_name(), new_name()
    await holding(log, taken)
    commands = [command(new_stream()) for _ in range(9)]
    commands[2] = replace(commands[2], claims=(taken,))
    commands[4] = replace(commands[4], claims=(free,))
    commands[6] = replace(commands[6], unclaimed=(taken,))
    outcomes = await together(log, *commands)
    assert (outcomes.pop(6), outcomes.pop(2)) == (UNCLAIMED, CLAIMED_ONCE)  # type: ignore[attr-defined]
    assert set(kinds(outcomes)) == {"Appended"}
    assert await log.holders([taken, free]) == {
        taken: (await log.holders([taken]))[taken],
        free: commands[4].stream_id,
    }
    positions = [event.position for event in await log.read_all(limit=100_000)]
    assert positions == list(range(1, len(positions) + 1))


async def test_one_of_many_claimers_wins(log: EventLog) -> None:
    """Of twenty streams that claim a name at once one has it; the others, and nobody else, are refused."""
    name = new_name()
    wanted = [command(new_stream(), claims=(name,)) for _ in range(20)]
    bystanders = [command(new_stream()) for _ in range(20)]
    outcomes = await together(log, *(one for pair in zip(wanted, bystanders, strict=True) for one in pair))
    assert Counter(map(type, outcomes)) == {Appended: 21, Refused: 19}
    assert {outcome for outcome in outcomes if isinstance(outcome, Refused)} == {CLAIMED_ONCE}
    won = [one.stream_id for one, outcome in zip(wanted, outcomes[::2], strict=True) if isinstance(outcome, Appended)]
    assert [(await log.holders([name]))[name]] == won


async def test_a_broken_rule_of_another_kind_takes_no_name(log: EventLog) -> None:
    """What is refused for something else neither takes nor gives up a name, and hides nothing from those beside it."""
    given, taken = new_name(), new_name()
    one = await holding(log, given)
    broken = replace(one, releases=(given,), claims=(taken,), events=NAMELESS_EVENT)
    waiting = command(new_stream(), claims=(given,))
    other = command(new_stream(), claims=(taken,))
    outcomes = await together(log, broken, waiting, other)
    assert outcomes[:2] == [Refused("an_event_has_a_type"), CLAIMED_ONCE]
    assert kinds(outcomes)[2] == "Appended"
    assert await log.holders([given, taken]) == {given: one.stream_id, taken: other.stream_id}
