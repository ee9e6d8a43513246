from dataclasses import dataclass
from enum import Enum

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baohuang.gen.events.v1 import events_pb2
from baohuang.gen.rules.v1 import hand_pb2, ruleset_pb2
from baohuang.gen.table.v1 import moves_pb2, table_service_pb2, table_view_pb2
from baohuang.rpc.event_messages import event_from_proto
from baohuang.rpc.messages import (
    UnmappableError,
    choice_from_proto,
    choice_to_proto,
    from_proto,
    requested_options,
    to_proto,
)
from baohuang.rules import commands as cmd
from baohuang.rules.rulesets import RULESETS, Options, Ruleset
from baohuang.rules.state import Hand, Table
from contract.instances import instances
from contract.pairs import MOVES


@given(options=instances(Options), ruleset=instances(Ruleset))
def test_rulesets_and_options_come_back(options: Options, ruleset: Ruleset) -> None:
    """A choice left to the ruleset (absent) and one that is off (false) stay apart."""
    assert from_proto(to_proto(options, ruleset_pb2.Options), Options) == options
    assert from_proto(to_proto(ruleset, ruleset_pb2.Ruleset), Ruleset) == ruleset


@pytest.mark.parametrize("name", RULESETS)
def test_the_six_rulesets_come_back(name: str) -> None:
    """The rulesets that exist survive the way to a client and back."""
    ruleset = next(ruleset for ruleset in RULESETS.values() if ruleset.id == name)
    assert from_proto(to_proto(ruleset, ruleset_pb2.Ruleset), Ruleset) == ruleset


@settings(max_examples=40)
@given(table=instances(Table))
def test_every_table_that_the_types_allow_comes_back(table: Table) -> None:
    """A view, sent as bytes, gives the table it was made from, and leaves what is the view's own alone."""
    view = to_proto(table, table_view_pb2.TableView)
    assert (view.hash, view.HasField("viewer_seat")) == (b"", False)
    view.hash = bytes(32)
    received = table_view_pb2.TableView.FromString(view.SerializeToString())
    assert from_proto(received, Table) == table


@pytest.mark.parametrize("name", MOVES)
@settings(max_examples=25)
@given(data=st.data())
def test_every_move_comes_back(name: str, data: st.DataObject) -> None:
    """A move put into a request is read out of it, the empty ones too."""
    move: cmd.Move = data.draw(instances(MOVES[name]))
    request = choice_to_proto(move, table_service_pb2.ActRequest, "action")
    assert choice_from_proto(request, "action", MOVES) == move


def test_an_unset_choice_is_named() -> None:
    """A request without a move, and an event newer than these stubs, are told apart from every move and event."""
    with pytest.raises(UnmappableError) as refused:
        choice_from_proto(table_service_pb2.ActRequest(), "action", MOVES)
    assert refused.value.field == "action"
    with pytest.raises(UnmappableError):
        event_from_proto(events_pb2.Event())


@pytest.mark.parametrize("number", [hand_pb2.ANSWER_UNSPECIFIED, 99])
def test_an_enum_that_is_unset_or_unknown_is_named(number: hand_pb2.Answer.ValueType) -> None:
    """The error carries the field's path as a client wrote it."""
    request = table_service_pb2.ActRequest(answer_seize=moves_pb2.AnswerSeize(answer=number))
    with pytest.raises(UnmappableError) as refused:
        choice_from_proto(request, "action", MOVES)
    assert refused.value.field == "answer_seize.answer"


def test_a_path_goes_through_messages_within_messages() -> None:
    """An enum unset deep inside is named from the outermost message on."""
    with pytest.raises(UnmappableError) as refused:
        from_proto(table_view_pb2.TableView(), Table)
    assert refused.value.field == "ruleset.deck"


def test_numbers_beyond_the_message_are_refused() -> None:
    """What the wire cannot carry is an error, not another number."""
    with pytest.raises(ValueError, match="out of range"):
        to_proto(cmd.SitDown(2**31), table_service_pb2.SitDownRequest)


def test_a_field_that_the_message_lacks_is_a_bug() -> None:
    """A dataclass that outgrew its message is told so when it is first mapped, by the field's name."""

    @dataclass(frozen=True, slots=True)
    class Declare:
        answer: str
        loudness: int

    with pytest.raises(TypeError, match="Declare has no field loudness"):
        to_proto(Declare("", 1), moves_pb2.Declare)


def test_an_enum_member_that_the_message_lacks_is_a_bug() -> None:
    """An enum that outgrew its message is told so, by the member's value."""

    class Volume(Enum):
        LOUD = "VOLUME_LOUD"

    @dataclass(frozen=True, slots=True)
    class Declare:
        answer: Volume

    with pytest.raises(TypeError, match="VOLUME_LOUD"):
        to_proto(Declare(Volume.LOUD), moves_pb2.Declare)


def test_options_left_out_of_a_request_are_the_defaults() -> None:
    """A client that sets nothing gets the defaults; what it sets, false and zero lag included, it gets."""
    assert requested_options(ruleset_pb2.Options()) == Options()
    asked = ruleset_pb2.Options(short_deck=False, turn_seconds=5, bots=True)
    assert requested_options(asked) == Options(short_deck=False, turn_seconds=5, bots=True)


def test_the_empty_and_the_missing_hand_are_apart() -> None:
    """Presence of a message decides, not its content."""
    assert not to_proto(minimal_table(hand=None), table_view_pb2.TableView).HasField("hand")
    assert to_proto(minimal_table(Hand(0, (), 0)), table_view_pb2.TableView).HasField("hand")


def minimal_table(hand: Hand | None) -> Table:
    """Give a table of which only the hand matters."""
    ruleset = next(iter(RULESETS.values()))
    return Table(table_id="t", ruleset=ruleset, options=Options(), opened_by="p", hand=hand)  # type: ignore[arg-type] # plain text for ids
