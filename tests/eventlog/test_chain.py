"""The hash chain, for any events whatever."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from baohuang.eventlog import chain
from baohuang.eventlog.chain import ChainBroken, Flaw
from baohuang.eventlog.port import NO_POSITION, Actor, NewEvent, RequestId, StoredEvent, StreamId, Version
from eventlog.commands import NOON, command

STREAM = StreamId("table-1")

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)
scalars = st.none() | st.booleans() | st.integers(-(2**31), 2**31 - 1) | texts
documents = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=5
)
objects = st.dictionaries(texts.filter(lambda key: key != "hidden"), documents, max_size=4)
datas = st.builds(
    lambda public, hidden: json.dumps(public if hidden is None else {**public, "hidden": hidden}).encode(),
    objects,
    st.none() | objects,
)
moments = st.datetimes(datetime(1000, 1, 1), datetime(9999, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001 (bounds)
salts = st.binary(min_size=16, max_size=16)


@st.composite
def chains(draw: st.DrawFn, shortest: int = 1) -> tuple[StoredEvent, ...]:
    """Draw a stream of events as it would be stored."""
    wanted = command(
        STREAM,
        events=tuple(draw(st.lists(st.builds(NewEvent, texts, datas), min_size=shortest, max_size=4))),
        actor=draw(texts),
        request_id=draw(texts),
        recorded_at=draw(moments),
    )
    links = chain.link(wanted, [draw(salts) for _ in wanted.events])
    return chain.store(wanted, links, NO_POSITION)


def flaw_of(events: Sequence[StoredEvent]) -> tuple[Flaw, int] | None:
    """Return what verification finds, None if it finds nothing."""
    try:
        chain.verify(chain.start(STREAM), events)
    except ChainBroken as broken:
        return (broken.flaw, broken.version)
    return None


@settings(max_examples=25, deadline=None)
@given(chains())
def test_what_was_linked_verifies(events: tuple[StoredEvent, ...]) -> None:
    """A chain holds from its start, in one go or taken up again at any place."""
    whole = chain.verify(chain.start(STREAM), events)
    assert (whole.version, whole.hash) == (len(events), events[-1].hash)
    for cut in range(len(events) + 1):
        tip = chain.verify(chain.start(STREAM), events[:cut])
        assert chain.verify(tip, events[cut:]) == whole


@settings(max_examples=25, deadline=None)
@given(chains())
def test_the_order_and_spacing_of_stored_json_do_not_matter(events: tuple[StoredEvent, ...]) -> None:
    """Any writing of the same JSON hashes the same, as a store may give it back in its own."""
    for indent, sort in ((2, True), (None, False)):
        again = [
            replace(
                event,
                data=json.dumps(
                    dict(reversed(json.loads(event.data).items())), indent=indent, sort_keys=sort, ensure_ascii=sort
                ).encode(),
            )
            for event in events
        ]
        assert flaw_of(again) is None


@settings(max_examples=25, deadline=None)
@given(chains(), st.data())
def test_any_changed_field_is_found(events: tuple[StoredEvent, ...], data: st.DataObject) -> None:
    """One field of one event is another one: that event is named."""
    place = data.draw(st.integers(0, len(events) - 1))
    old = events[place]
    changed = data.draw(
        st.sampled_from(
            [
                replace(old, type=old.type + "x"),
                replace(old, actor=Actor(old.actor + "x")),
                replace(old, request_id=RequestId(old.request_id + "x")),
                replace(old, recorded_at=old.recorded_at.replace(microsecond=old.recorded_at.microsecond ^ 1)),
                replace(old, salt=flipped(old.salt, data.draw(st.integers(0, 127)))),
                replace(old, hash=flipped(old.hash, data.draw(st.integers(0, 255)))),
                replace(old, data=json.dumps({**json.loads(old.data), "added": 1}).encode()),
                replace(old, data=json.dumps({**json.loads(old.data), "hidden": {"added": 1}}).encode()),
            ]
        )
    )
    assert flaw_of([*events[:place], changed, *events[place + 1 :]]) == (Flaw.WRONG_HASH, place + 1)


def flipped(value: bytes, bit: int) -> bytes:
    """Flip one bit."""
    return bytes(byte ^ (1 << bit % 8 if place == bit // 8 else 0) for place, byte in enumerate(value))


@settings(max_examples=25, deadline=None)
@given(chains(shortest=3), st.data())
def test_removed_repeated_and_moved_events_are_found(events: tuple[StoredEvent, ...], data: st.DataObject) -> None:
    """A missing, doubled or moved event shows at the first version that is not the next."""
    place = data.draw(st.integers(0, len(events) - 2))
    assert flaw_of([*events[:place], *events[place + 1 :]]) == (Flaw.OUT_OF_SEQUENCE, place + 1)
    assert flaw_of([*events[: place + 1], *events[place:]]) == (Flaw.OUT_OF_SEQUENCE, place + 2)
    moved = [*events[:place], events[place + 1], events[place], *events[place + 2 :]]
    assert flaw_of(moved) == (Flaw.OUT_OF_SEQUENCE, place + 1)


@settings(max_examples=25, deadline=None)
@given(chains(shortest=2), st.data())
def test_a_renumbered_event_is_found(events: tuple[StoredEvent, ...], data: st.DataObject) -> None:
    """Closing the gap that a removed event leaves does not hide it."""
    place = data.draw(st.integers(0, len(events) - 2))
    closed = [*events[:place], *(replace(event, version=Version(event.version - 1)) for event in events[place + 1 :])]
    assert flaw_of(closed) == (Flaw.WRONG_HASH, place + 1)


@settings(max_examples=25, deadline=None)
@given(chains())
def test_a_spectator_checks_what_he_sees(events: tuple[StoredEvent, ...]) -> None:
    """Public parts and hidden digests are enough to follow the chain, and hold nothing hidden."""
    public = [chain.publish(event) for event in events]
    tip = chain.verify_public(chain.start(STREAM), public)
    assert tip.hash == events[-1].hash
    for event in public:
        assert "hidden" not in json.loads(event.data)
        assert not hasattr(event, "salt")
        assert not hasattr(event, "request_id")


@settings(max_examples=25, deadline=None)
@given(chains(), st.data())
def test_a_spectator_finds_a_changed_public_part(events: tuple[StoredEvent, ...], data: st.DataObject) -> None:
    """A public field or digest that was changed on the way breaks the chain at its version."""
    place = data.draw(st.integers(0, len(events) - 1))
    public = [chain.publish(event) for event in events]
    public[place] = data.draw(
        st.sampled_from(
            [
                replace(public[place], actor=Actor(public[place].actor + "x")),
                replace(public[place], data=json.dumps({**json.loads(public[place].data), "added": 1}).encode()),
                replace(public[place], hidden_digest=flipped(public[place].hidden_digest, 7)),
            ]
        )
    )
    with pytest.raises(ChainBroken) as caught:
        chain.verify_public(chain.start(STREAM), public)
    assert (caught.value.flaw, caught.value.version) == (Flaw.WRONG_HASH, place + 1)


@settings(max_examples=25, deadline=None)
@given(salts, salts, datas)
def test_the_salt_hides_a_choice(one: bytes, other: bytes, data: bytes) -> None:
    """The same hidden part under two salts has two digests, so no table of guesses helps."""
    wanted = command(STREAM, events=(NewEvent("Answered", data),))
    first, second = (
        chain.publish(chain.store(wanted, chain.link(wanted, [salt]), NO_POSITION)[0]) for salt in (one, other)
    )
    assert (first.hidden_digest == second.hidden_digest) == (one == other)
    assert first.data == second.data


def test_the_formula_is_the_published_one() -> None:
    """One event hashed step by step as the documentation tells a client to."""
    wanted = command(
        STREAM,
        events=(NewEvent("CardsPlayed", '{"seat":3,"hidden":{"left":["大王"]},"cards":["H3"]}'.encode()),),
        actor="wei",
        request_id="r-1",
        recorded_at=NOON,
    )
    (linked,) = chain.link(wanted, [b"0123456789abcdef"])
    public = (
        '{"actor":"wei","data":{"cards":["H3"],"seat":3},"recordedAt":"2026-05-04T12:00:00.123456Z",'
        '"stream":"table-1","type":"CardsPlayed","version":1}'
    )
    hidden = '{"hidden":{"left":["大王"]},"requestId":"r-1"}'
    public_digest = sha256(public.encode()).digest()
    hidden_digest = sha256(b"0123456789abcdef" + hidden.encode()).digest()
    assert linked.hash == sha256(bytes(32) + public_digest + hidden_digest).digest()


def test_an_event_of_another_stream_does_not_pass() -> None:
    """A chain is of one stream."""
    wanted = command(StreamId("table-2"))
    (event,) = chain.store(wanted, chain.link(wanted, [bytes(16)]), NO_POSITION)
    with pytest.raises(ChainBroken, match=Flaw.WRONG_STREAM.value):
        chain.verify(chain.start(STREAM), [event])


@settings(max_examples=25, deadline=None)
@given(chains())
def test_a_digest_is_the_same_however_it_is_come_by(events: tuple[StoredEvent, ...]) -> None:
    """`digest_of` spares the decoding where nothing is hidden, and agrees with `publish` always."""
    assert [chain.digest_of(event) for event in events] == [chain.publish(event).hidden_digest for event in events]
