import json

import pytest

from baohuang.eventlog.codec import decode, encode
from baohuang.eventlog.json_codec import CodecError, MalformedEventError, UnknownEventTypeError
from baohuang.rules.cards import Card
from baohuang.rules.events import Answered, CardCalled, CardsPlayed, HiddenAnswer, HiddenCall, Passed, PlayerSat
from baohuang.rules.state import Answer, PlayerId

PLAYED = CardsPlayed(1, (Card("3s"), Card("BJ")), left=12, place=0, turn=0, automatic=False)


def test_the_documented_example() -> None:
    """Zeros are left out, an optional zero is printed, keys are sorted, nothing is padded."""
    assert encode(PLAYED) == ("CardsPlayed", b'{"cards":["3s","BJ"],"left":12,"seat":1,"turn":0}')


def test_a_hidden_part_without_content_is_still_there() -> None:
    """An empty hidden part and none at all are different events, and stay so."""
    called = CardCalled(2, Card("3s"), automatic=False, hidden=HiddenCall(None, None))
    assert encode(called)[1] == b'{"card":"3s","hidden":{},"seat":2}'
    assert decode(*encode(called)) == called


def test_keys_come_back_in_any_order() -> None:
    """A store may keep objects in an order of its own: jsonb sorts keys by length."""
    name, data = encode(PLAYED)
    reversed_keys = json.dumps(dict(reversed(json.loads(data).items())), indent=1).encode()
    assert decode(name, reversed_keys) == PLAYED


def test_history_of_a_newer_release_stays_readable() -> None:
    """Keys unknown to this release are passed over, at the top and inside of messages."""
    data = b'{"seat":3,"speed":{"unit":[1]},"hidden":{"answer":"ANSWER_REVOLT","why":"because"}}'
    assert decode("Answered", data) == Answered(3, automatic=False, hidden=HiddenAnswer(Answer.REVOLT))


def test_history_of_an_older_release_stays_readable() -> None:
    """A key that was not written yet is the zero of its type."""
    assert decode("Passed", b"{}") == Passed(0, 0, trick_over=False, automatic=False)


def test_an_unknown_type_is_named() -> None:
    """A type that this release does not have is an error of its own, which names it."""
    with pytest.raises(UnknownEventTypeError, match="'CardsEaten'"):
        decode("CardsEaten", b"{}")


@pytest.mark.parametrize(
    ("event_type", "data"),
    [
        ("Passed", b""),
        ("Passed", b"[]"),
        ("Passed", b'{"seat":"1"}'),
        ("Passed", b'{"seat":1.5}'),
        ("Passed", b'{"seat":null}'),
        ("Passed", b'{"seat":2147483648}'),
        ("Passed", b'{"seat":1'),
        ("PhaseBegan", b"{}"),
        ("PhaseBegan", b'{"phase":"PHASE_OF_THE_MOON"}'),
        ("PhaseBegan", b'{"phase":7}'),
        ("TableOpened", b'{"tableId":"t"}'),
        ("PlayerSat", b'{"player":"\xff"}'),
        ("PlayerSat", b'{"player":"\\ud800"}'),
    ],
)
def test_what_is_not_such_an_event_is_refused(event_type: str, data: bytes) -> None:
    """Data of another shape raises the codec's own error, which names the type."""
    with pytest.raises(MalformedEventError, match=event_type):
        decode(event_type, data)


@pytest.mark.parametrize(
    "event",
    [
        Passed(2**31, 0, trick_over=False, automatic=False),
        Passed(-(2**31) - 1, 0, trick_over=False, automatic=False),
        PlayerSat(1, PlayerId("\ud800")),
    ],
)
def test_what_no_message_can_hold_is_not_written(event: Passed | PlayerSat) -> None:
    """A number beyond int32 or a text beyond UTF-8 never reaches the log, where no client could read it."""
    with pytest.raises(MalformedEventError):
        encode(event)


def test_what_is_no_event_is_not_written() -> None:
    """Only the classes of events have a stored form."""
    with pytest.raises(CodecError):
        encode(HiddenAnswer(Answer.NONE))  # type: ignore[arg-type] # the mistake under test
