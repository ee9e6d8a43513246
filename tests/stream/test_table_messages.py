"""What goes to NATS of a table: everything that is public, in one form, and nothing that is hidden."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache

import pytest

from baohuang.eventlog import chain
from baohuang.eventlog.codec import decode, encode
from baohuang.eventlog.port import (
    NO_HASH,
    NO_POSITION,
    NO_VERSION,
    Actor,
    Append,
    NewEvent,
    RequestId,
    StoredEvent,
    StreamId,
)
from baohuang.rules.events import EVENT_TYPES, Answered, Event, HiddenAnswer, Passed
from baohuang.rules.evolve import evolve
from baohuang.rules.redact import redact
from baohuang.rules.rulesets import RULESETS, Options
from baohuang.rules.state import Answer, Table
from baohuang.stream.port import Message, Number, Unprocessable
from baohuang.stream.streams import TABLE_STREAM, token
from baohuang.stream.table_messages import SETTLING, event_of, message_of, public_event
from contract.random_play import play
from rules.witness import Witness

SECRET = RequestId("a-request-nobody-else-may-know")
AT = datetime(2026, 1, 31, 8, 5, 9, 123, UTC)
CHANGING = {"hash", "hiddenDigest"}
SEEDS = 3


@cache
def played(ruleset: str, seed: int) -> tuple[Event, ...]:
    """Return the events of a table at which two hands are played at random."""
    return tuple(event for step in play(ruleset, Options(), seed, hands=2) for event in step.events)


def stored(events: tuple[Event, ...]) -> tuple[StoredEvent, ...]:
    """Return events as a log keeps them, each with a salt of its own."""
    append = Append(
        StreamId("table"), NO_VERSION, NO_HASH, tuple(NewEvent(*encode(event)) for event in events),
        Actor("player-1"), SECRET, b"", AT, b"{}",
    )  # fmt: skip
    return chain.store(append, chain.link(append, [_salt(place) for place in range(len(events))]), NO_POSITION)


def _salt(place: int) -> bytes:
    return bytes([0xA5] * 12) + place.to_bytes(4, "big")


def messages(events: tuple[Event, ...]) -> list[Message]:
    """Return the messages that carry events."""
    return [message_of(public_event(kept), None) for kept in stored(events)]


def parts(message: Message) -> Iterator[str]:
    """Give every text that a reader of a message can find: subject, headers, all keys and values of the body."""
    yield message.subject
    for name, value in message.headers.items():
        yield from (name, value)
    yield message.body.decode()


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("ruleset", RULESETS)
def test_nothing_hidden_is_in_any_body_subject_or_header(ruleset: str, seed: int) -> None:
    """By an oracle of its own: no card, seed or role that the public may not know yet; no salt and no request id."""
    witness, table = Witness(viewers=()), None
    events = played(ruleset, seed)
    for place, (event, message) in enumerate(zip(events, messages(events), strict=True)):
        after = evolve(table, event)
        witness.follow(table, event, after)
        check(witness, table, message, after)
        assert not any(SECRET in part or _salt(place).hex() in part for part in parts(message))
        table = after


def check(witness: Witness, before: Table | None, message: Message, after: Table) -> None:
    """Check one message with the eyes of the witness."""
    shown = event_of(message)
    assert "hidden" not in json.loads(shown.data)
    event = decode(shown.type, shown.data)
    if not isinstance(event, Passed):
        witness.check_event(before, event, after, None)
    assert message.subject == f"baohuang.v1.table.table.{shown.type}"
    assert set(message.headers) == {"Baohuang-Hash"}


@pytest.mark.parametrize("ruleset", RULESETS)
def test_a_body_is_the_event_as_the_public_may_see_it(ruleset: str) -> None:
    """What is taken from the log by its form is what `redact` gives by its meaning; the rest is the log's own."""
    events = played(ruleset, 0)
    for kept, event, message in zip(stored(events), events, messages(events), strict=True):
        shown = event_of(message)
        assert shown == public_event(kept)
        assert encode(redact(event, None, hand_over=False)) == (shown.type, shown.data)
        assert (shown.position, shown.version, shown.actor, shown.recorded_at) == (
            kept.position, kept.version, kept.actor, kept.recorded_at,
        )  # fmt: skip
        assert message.hash == kept.hash.hex()


def test_the_chain_is_checked_from_the_stream_alone() -> None:
    """Whoever follows the messages of a table has all that its hashes were made of."""
    tip = chain.start(StreamId("table"))
    for message in messages(played("homy-qingdao", 1)):
        shown = event_of(message)
        assert shown.hidden_digest is not None
        tip = chain.follow(
            tip,
            chain.PublicEvent(
                shown.stream_id, shown.version, shown.type, shown.data, shown.actor, shown.recorded_at,
                shown.hidden_digest, shown.hash,
            ),
        )  # fmt: skip
    assert tip.version == len(played("homy-qingdao", 1))


@pytest.mark.parametrize("ruleset", RULESETS)
def test_what_is_hidden_changes_nothing_but_two_digests(ruleset: str) -> None:
    """Of every event with something hidden: with it and without it, the messages are alike, and of the same size."""
    for event in played(ruleset, 2):
        if getattr(event, "hidden", None) is not None:
            (full,), (bare,) = messages((event,)), messages((replace(event, hidden=None),))  # type: ignore[arg-type]
            alike(full, bare)


@pytest.mark.parametrize("answer", Answer)
def test_an_answer_does_not_show_in_its_size(answer: Answer) -> None:
    """Whatever a seat answers, its message has the same subject, the same length and the same public words."""
    given = Answered(3, automatic=False, hidden=HiddenAnswer(answer))
    (one,), (other,) = messages((given,)), messages((replace(given, hidden=HiddenAnswer(Answer.NONE)),))
    alike(one, other)


def alike(one: Message, other: Message) -> None:
    """Check that two messages differ in digests alone."""
    assert (len(one.body), one.subject, set(one.headers)) == (len(other.body), other.subject, set(other.headers))
    left, right = json.loads(one.body), json.loads(other.body)
    assert {key for key in left if left[key] != right[key]} <= CHANGING
    assert left.keys() == right.keys()


def test_a_body_is_canonical_json() -> None:
    """Sorted keys, no whitespace, UTF-8: the form that the chain hashes, so that two writers write the same."""
    for message in messages(played("ourgame-classic", 0)):
        again = json.dumps(json.loads(message.body), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert again.encode() == message.body


def test_the_kinds_that_settle_are_events() -> None:
    """Their names are names of events, and a message of one says what came before it."""
    assert set(SETTLING) <= set(EVENT_TYPES)
    (kept, *_) = stored(played("homy-weihai", 0))
    assert message_of(public_event(kept), Number(7)).headers["Baohuang-Preceded-By"] == "7"


@pytest.mark.parametrize(
    ("text", "written"),
    [("0190-ab_c", "0190-ab_c"), ("a.b", "a%2Eb"), ("*", "%2A"), (">", "%3E"), ("a b", "a%20b"), ("皇", "%E7%9A%87")],
)
def test_a_subject_has_as_many_tokens_as_it_should(text: str, written: str) -> None:
    """Whatever a stream is called, it is one token, and no wildcard."""
    assert token(text) == written
    assert TABLE_STREAM.subject(text, "Passed").split(".") == ["baohuang", "v1", "table", written, "Passed"]


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"hash":1}', b"\xff"])
def test_a_body_that_is_no_event_cannot_be_processed(body: bytes) -> None:
    """It is named as such, to be set aside."""
    with pytest.raises(Unprocessable, match="message 5 carries no event"):
        event_of(Message(Number(5), "baohuang.v1.table.t.Passed", body, {}))
