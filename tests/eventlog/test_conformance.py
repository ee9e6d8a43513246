"""What every event log does, asked of each of them."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from baohuang.eventlog import chain
from baohuang.eventlog.port import (
    NO_HASH,
    NO_VERSION,
    Actor,
    Append,
    Duplicate,
    EventLog,
    Head,
    LogCorrupted,
    NewEvent,
    Position,
    Refused,
    RequestId,
    StreamId,
    Unstorable,
    Version,
    VersionConflict,
)
from eventlog.commands import NOON, PLAYED, STARTED, accepted, after, command, grow, new_stream


async def test_what_is_appended_is_read_back(log: EventLog) -> None:
    """Every field of an event comes back as it went in, and as the append itself reported it."""
    stream_id = new_stream()
    wanted = command(stream_id, events=(STARTED, PLAYED), request_id="r-1", actor="王")
    appended = await accepted(log, wanted)
    stored = await log.read_stream(stream_id)
    assert [event.version for event in stored] == [1, 2]
    assert [event.type for event in stored] == ["HandStarted", "CardsPlayed"]
    assert [msgspec.json.decode(event.data) for event in stored] == [
        msgspec.json.decode(event.data) for event in (STARTED, PLAYED)
    ]
    assert {(event.actor, event.request_id, event.recorded_at) for event in stored} == {("王", "r-1", NOON)}
    assert [(event.position, event.version, event.salt, event.hash) for event in stored] == [
        (event.position, event.version, event.salt, event.hash) for event in appended.events
    ]
    assert (appended.version, appended.hash, appended.position) == (2, stored[-1].hash, stored[-1].position)


async def test_times_keep_their_microseconds(log: EventLog) -> None:
    """An instant comes back to the microsecond, also at a full second and at the ends of what is sensible."""
    for moment in (NOON, datetime(2026, 1, 1, tzinfo=UTC), datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=UTC)):
        stream_id = new_stream()
        await accepted(log, command(stream_id, recorded_at=moment))
        assert [event.recorded_at for event in await log.read_stream(stream_id)] == [moment]


async def test_the_chain_of_a_stream_holds(log: EventLog) -> None:
    """What is stored verifies from start to head."""
    stream_id = new_stream()
    await grow(log, stream_id, 5)
    tip = chain.verify(chain.start(stream_id), await log.read_stream(stream_id))
    chain.verify_end(tip, await log.head(stream_id))


async def test_a_new_stream_is_made_once(log: EventLog) -> None:
    """Version 0 means "must not exist": the second maker learns where the stream is."""
    stream_id = new_stream()
    first = await accepted(log, command(stream_id))
    assert await log.append(command(stream_id)) == VersionConflict(first.version, first.hash)


async def test_a_stale_version_is_told_the_head(log: EventLog) -> None:
    """A command decided on an older or a newer version is not appended and learns the head."""
    stream_id = new_stream()
    end = await grow(log, stream_id, 3)
    for version in (1, 2, 4):
        assert await log.append(command(stream_id, version, end.hash)) == VersionConflict(end.version, end.hash)
    assert len(await log.read_stream(stream_id)) == 3


async def test_a_version_of_no_stream_is_a_conflict(log: EventLog) -> None:
    """A stream that does not exist has version 0 and the hash of nothing."""
    assert await log.append(command(new_stream(), 7, bytes([1]) * 32)) == VersionConflict(NO_VERSION, NO_HASH)


async def test_another_hash_at_the_same_version_is_corruption(log: EventLog) -> None:
    """A writer whose hash differs from the head's at the same version is told loudly and writes nothing."""
    stream_id = new_stream()
    end = await grow(log, stream_id, 2)
    with pytest.raises(LogCorrupted) as caught:
        await log.append(command(stream_id, 2, bytes(32)))
    assert (caught.value.version, caught.value.found_hash, caught.value.expected_hash) == (2, end.hash, bytes(32))
    with pytest.raises(LogCorrupted):
        await log.append(command(new_stream(), 0, bytes([9]) * 32))
    assert len(await log.read_stream(stream_id)) == 2


async def test_a_request_is_accepted_once(log: EventLog) -> None:
    """The same actor and request id gets the first reply, wherever and on whatever version it is sent again."""
    stream_id = new_stream()
    first = command(stream_id, events=(STARTED, PLAYED), request_id="again-1", body=b"one", outcome=b'{"n":1}')
    await accepted(log, first)
    expected = Duplicate(stream_id, Version(2), first.request_digest, b'{"n":1}')
    for retry in (
        first,
        command(stream_id, 2, bytes(32), request_id="again-1", body=b"other"),
        command(new_stream(), request_id="again-1", body=b"one"),
    ):
        outcome = await log.append(retry)
        assert isinstance(outcome, Duplicate)
        assert msgspec.json.decode(outcome.outcome) == {"n": 1}
        assert (outcome.stream_id, outcome.version, outcome.request_digest) == (
            expected.stream_id,
            expected.version,
            expected.request_digest,
        )
    assert len(await log.read_stream(stream_id)) == 2


async def test_request_ids_belong_to_their_actors(log: EventLog) -> None:
    """Two actors may use the same request id."""
    await accepted(log, command(new_stream(), actor="li", request_id="shared"))
    await accepted(log, command(new_stream(), actor="zhao", request_id="shared"))


async def test_a_refused_command_leaves_no_trace(log: EventLog) -> None:
    """After a conflict the same request id is decided anew."""
    stream_id = new_stream()
    end = await grow(log, stream_id, 2)
    stale = command(stream_id, 1, end.hash, request_id="anew")
    assert isinstance(await log.append(stale), VersionConflict)
    assert await log.find_request(stale.actor, stale.request_id) is None
    await accepted(log, command(stream_id, 2, end.hash, request_id="anew"))


@pytest.mark.parametrize(
    ("constraint", "broken"),
    [
        ("an_event_has_a_type", command(StreamId("t"), events=(NewEvent("", b"{}"),))),
        ("an_actor_is_named", command(StreamId("t"), actor="")),
        ("a_stream_is_named", command(StreamId(""))),
        ("a_summary_is_an_object", command(StreamId("t"), summary=b"[1]")),
    ],
)
async def test_a_broken_constraint_is_named(log: EventLog, constraint: str, broken: Append) -> None:
    """A command that breaks a rule of the schema is refused by that rule's name and leaves nothing."""
    assert await log.append(broken) == Refused(constraint)
    assert await log.head(StreamId("t")) is None


@pytest.mark.parametrize(
    "data", [b"[]", b"3", b"{", b'{"a":1.5}', b'{"a":1e3}', b'{"hidden":7}', b'{"hidden":null}', b'"\xff"', b""]
)
async def test_what_is_not_canonical_json_is_unstorable(log: EventLog, data: bytes) -> None:
    """Data is a JSON object without floats, its "hidden" an object."""
    stream_id = new_stream()
    with pytest.raises(Unstorable):
        await log.append(command(stream_id, events=(NewEvent("CardsPlayed", data),)))
    assert await log.head(stream_id) is None


@pytest.mark.parametrize(
    "poison",
    [
        command(StreamId("poison"), events=(NewEvent("CardsPlayed", b'{"a":"\\u0000"}'),)),
        command(StreamId("poison"), outcome=b'{"a":"\\\\\\u0000"}'),
        command(StreamId("poison"), outcome=b"nonsense"),
        command(StreamId("poison"), summary=b""),
        command(StreamId("poison"), actor="a\0b"),
        command(StreamId("poison\0")),
        command(StreamId("poison"), actor="half \ud800"),
        command(StreamId("poison"), request_id="\udfff"),
        command(StreamId("poison"), events=(NewEvent("\ud800", b"{}"),)),
    ],
)
async def test_what_the_store_cannot_hold_is_unstorable(log: EventLog, poison: Append) -> None:
    """NUL in any text and JSON that is none are refused, and refused again."""
    for _ in range(2):
        with pytest.raises(Unstorable):
            await log.append(poison)
    assert await log.head(StreamId("poison")) is None


async def test_an_escaped_backslash_is_no_nul(log: EventLog) -> None:
    """A backslash followed by the letters u0000 is text like any other."""
    stream_id = new_stream()
    await accepted(log, command(stream_id, events=(NewEvent("Said", b'{"text":"\\\\u0000"}'),)))
    (event,) = await log.read_stream(stream_id)
    assert msgspec.json.decode(event.data) == {"text": "\\u0000"}


async def test_a_stream_is_read_in_pages(log: EventLog) -> None:
    """Pages of one stream are in order, without gap or overlap, and end."""
    stream_id = new_stream()
    await grow(log, stream_id, 5)
    first = await log.read_stream(stream_id, limit=2)
    second = await log.read_stream(stream_id, first[-1].version, limit=2)
    third = await log.read_stream(stream_id, second[-1].version, limit=2)
    assert [event.version for event in (*first, *second, *third)] == [1, 2, 3, 4, 5]
    assert await log.read_stream(stream_id, Version(5)) == ()
    assert await log.read_stream(new_stream()) == ()


async def test_reading_starts_at_the_last_event_of_a_type(log: EventLog) -> None:
    """From the last such event on, that one included; everything if there is none."""
    stream_id = new_stream()
    end = await grow(log, stream_id, 2)
    assert [event.version for event in await log.read_since_last(stream_id, "HandStarted")] == [1, 2]
    for event in (STARTED, PLAYED, STARTED, PLAYED, PLAYED):
        end = await accepted(log, after(stream_id, end, event))
    assert [event.version for event in await log.read_since_last(stream_id, "HandStarted")] == [5, 6, 7]
    assert await log.read_since_last(new_stream(), "HandStarted") == ()


async def test_the_whole_log_is_read_in_order_of_position(log: EventLog) -> None:
    """Positions of all streams together are contiguous, and pages follow one another."""
    streams = [new_stream() for _ in range(3)]
    ends = [await accepted(log, command(stream_id, events=(STARTED, PLAYED))) for stream_id in streams]
    start = Position(ends[0].position - 2)
    first = await log.read_all(start, limit=4)
    rest = await log.read_all(first[-1].position)
    assert [event.position for event in (*first, *rest)] == list(range(start + 1, start + 7))
    assert [event.stream_id for event in (*first, *rest)] == [one for one in streams for _ in range(2)]
    assert await log.read_all(rest[-1].position) == ()


async def test_the_head_follows_the_stream(log: EventLog) -> None:
    """A head has the last version, its hash and the last summary given."""
    stream_id = new_stream()
    assert await log.head(stream_id) is None
    end = await accepted(log, command(stream_id))
    assert await log.head(stream_id) == Head(stream_id, end.version, end.hash, b"{}")
    end = await accepted(log, command(stream_id, end.version, end.hash, summary=b'{"seats":["li"]}'))
    end = await accepted(log, after(stream_id, end))
    head = await log.head(stream_id)
    assert head is not None
    assert (head.version, head.hash, msgspec.json.decode(head.summary)) == (3, end.hash, {"seats": ["li"]})


async def test_the_versions_of_many_streams(log: EventLog) -> None:
    """Each stream with where it ends, however often it is asked for; those that do not exist are left out."""
    streams = [new_stream() for _ in range(3)]
    ends = [await grow(log, stream_id, n) for n, stream_id in enumerate(streams, 1)]
    expected = {stream_id: end.version for stream_id, end in zip(streams, ends, strict=True)}
    assert await log.versions([*streams, new_stream(), streams[0]]) == expected
    assert await log.versions([]) == {}
    assert await log.versions([new_stream()]) == {}


async def test_head_and_reply_are_read_together(log: EventLog) -> None:
    """`current` gives the head of one stream and the reply to a request, each alone too."""
    stream_id = new_stream()
    wanted = command(stream_id, request_id="current-1")
    nothing = await log.current(stream_id, wanted.actor, wanted.request_id)
    assert (nothing.head, nothing.duplicate) == (None, None)
    await accepted(log, wanted)
    both = await log.current(stream_id, wanted.actor, wanted.request_id)
    assert both.head == await log.head(stream_id)
    assert both.duplicate == await log.find_request(wanted.actor, wanted.request_id)
    assert both.duplicate is not None
    other = await log.current(new_stream(), wanted.actor, wanted.request_id)
    assert (other.head, other.duplicate) == (None, both.duplicate)
    assert (await log.current(stream_id, Actor("wei"), RequestId("never"))).duplicate is None


async def test_heads_are_listed_by_summary(log: EventLog) -> None:
    """A listing holds the heads whose summary contains the filter, by descending id, in pages."""
    mark = new_stream()
    streams = [StreamId(f"list-{mark}-{n}") for n in range(5)]
    for n, stream_id in enumerate(streams):
        seats = [{"player": f"p{n % 2}"}, {"player": "same"}]
        await accepted(log, command(stream_id, summary=msgspec.json.encode({"mark": mark, "seats": seats})))
    everyone = msgspec.json.encode({"mark": mark})
    assert [head.stream_id for head in await log.list_heads(everyone)] == streams[::-1]
    one = msgspec.json.encode({"mark": mark, "seats": [{"player": "p1"}]})
    assert [head.stream_id for head in await log.list_heads(one)] == [streams[3], streams[1]]
    first = await log.list_heads(everyone, limit=2)
    rest = await log.list_heads(everyone, after=first[-1].stream_id)
    assert [head.stream_id for head in (*first, *rest)] == streams[::-1]
    assert await log.list_heads(everyone, after=streams[0]) == ()


async def test_the_clock_goes_forward(log: EventLog) -> None:
    """The clock is an aware UTC reading that does not go back."""
    first, second = await log.clock(), await log.clock()
    assert first.utcoffset() == timedelta(0)
    assert first <= second


def test_an_append_is_checked_when_it_is_made() -> None:
    """No events, a naive or foreign instant and a short hash are mistakes of the caller, told at once."""
    with pytest.raises(ValueError, match="at least one event"):
        command(new_stream(), events=())
    with pytest.raises(ValueError, match="UTC"):
        command(new_stream(), recorded_at=NOON.replace(tzinfo=None))
    with pytest.raises(ValueError, match="32 bytes"):
        command(new_stream(), 1, b"short")
