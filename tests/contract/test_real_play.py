from collections.abc import Sequence

import pytest

from baohuang.eventlog.codec import decode, encode
from baohuang.gen.events.v1 import events_pb2
from baohuang.gen.table.v1 import table_view_pb2
from baohuang.rpc.event_messages import event_from_proto, event_to_proto
from baohuang.rpc.messages import from_proto, to_proto
from baohuang.rules.cards import HIDDEN
from baohuang.rules.events import EVENT_TYPES
from baohuang.rules.evolve import fold
from baohuang.rules.redact import mask, redact
from baohuang.rules.rulesets import RULESETS, Options
from baohuang.rules.state import ALL_SEATS, Phase, Table
from contract.random_play import Step, play, play_by_trustees

SEEDS = range(6)
VIEWERS = (None, *ALL_SEATS)


@pytest.fixture(scope="module")
def played() -> Sequence[Step]:
    """Give the steps of some hands under every ruleset."""
    steps = [step for name in RULESETS for seed in SEEDS for step in play(name, Options(), seed, hands=2)]
    return [*steps, *(step for name in RULESETS for step in play_by_trustees(name))]


def test_the_play_reaches_every_phase_and_nearly_every_event(played: Sequence[Step]) -> None:
    """None of the tests below is vacuous: a table is seen in each phase in which it can rest."""
    phases = {step.table.hand.phase for step in played if step.table.hand}
    assert phases == set(Phase) - {Phase.REDEAL}
    types = {type(event).__name__ for step in played for event in step.events}
    rare = {"SeatWentOut", "TurnExtended", "ConnectionLost", "ConnectionRestored"}
    of_players = {"PlayerBanned", "PlayerReinstated"}  # on a player's own stream, never at a table
    assert set(EVENT_TYPES) - types <= rare | of_players


def test_a_view_gives_the_masked_table_it_was_made_from(played: Sequence[Step]) -> None:
    """For every viewer and in every phase, what is masked, absent and zero survives the wire."""
    for step in _one_a_phase(played):
        for viewer in VIEWERS:
            masked = mask(step.table, viewer)
            sent = to_proto(masked, table_view_pb2.TableView).SerializeToString()
            assert from_proto(table_view_pb2.TableView.FromString(sent), Table) == masked


def test_a_view_shows_no_card_that_was_masked(played: Sequence[Step]) -> None:
    """While a hand is played, the public's view holds as many cards a seat as there are, all of them covered."""
    table = next(step.table for step in played if step.table.hand and step.table.hand.phase is Phase.PLAY)
    assert table.hand
    view = to_proto(mask(table, None), table_view_pb2.TableView)
    shown = [list(held.cards) for held in view.hand.hands]
    assert shown == [[HIDDEN] * len(cards) for cards in table.hand.hands]


def test_what_was_played_is_rebuilt_from_what_is_stored(played: Sequence[Step]) -> None:
    """Folding the decoded events of all steps gives the tables that the decisions gave, at every step."""
    table = None
    for step in played:
        table = fold([decode(*encode(event)) for event in step.events], table)
        assert table == step.table


def test_redacted_events_come_back_over_the_wire(played: Sequence[Step]) -> None:
    """For every viewer, what an update carries is the event as redacted for him."""
    for event in {event for step in played for event in step.events}:
        for viewer in VIEWERS:
            seen = redact(event, viewer, hand_over=False)
            sent = event_to_proto(seen).SerializeToString()
            assert event_from_proto(events_pb2.Event.FromString(sent)) == seen


def _one_a_phase(played: Sequence[Step]) -> list[Step]:
    """Give the first and the last step in each ruleset's each phase: thousands in PLAY look alike."""
    first = {_place(step): step for step in reversed(played)}
    last = {_place(step): step for step in played}
    return [*first.values(), *last.values()]


def _place(step: Step) -> tuple[str, Phase | None]:
    return step.table.ruleset.id, step.table.hand.phase if step.table.hand else None
