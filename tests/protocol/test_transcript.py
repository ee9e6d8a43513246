"""The document's transcript is what the service answers, to a client that knows it by reflection alone."""

import asyncio
import copy
from collections.abc import AsyncIterator, Sequence

import pytest

from protocol import document
from protocol.matching import Matching
from protocol.playing import replay
from protocol.reflected import Json, reflected
from protocol.serving import running
from protocol.transcript import Step, block_of, steps_in
from protocol.vectors import chain_breaks, deal_in, event_of, table_id_in, updates_in


@pytest.fixture
def steps() -> Sequence[Step]:
    """Give the document's commands."""
    return steps_in(document.part("transcript", document.text()))


@pytest.fixture
async def replies(steps: Sequence[Step]) -> AsyncIterator[Sequence[Sequence[Json]]]:
    """Give what a service answers to them today."""
    async with running() as address:
        yield await asyncio.to_thread(_replayed, address, steps)


def _replayed(address: str, steps: Sequence[Step]) -> Sequence[Sequence[Json]]:
    with reflected(address) as client:
        return replay(client, steps)


async def test_every_command_is_answered_as_shown(replies: Sequence[Sequence[Json]]) -> None:
    """All replies match what the document shows; the hand they tell of goes from its start to its end."""
    types = [update["type"] for update in updates_in(replies)]
    assert "HandStarted" in types
    assert types[-2:] == ["HandFinished", "TableDissolved"]


async def test_the_deal_of_the_replayed_hand_is_recomputed(replies: Sequence[Sequence[Json]]) -> None:
    """By the document's algorithm alone, seed and entropy of the replayed hand give the cards that seat 0 was shown."""
    dealt = next(event_of(update) for update in updates_in(replies) if update["type"] == "CardsDealt")
    (own,) = dealt["hidden"]["hands"]
    assert deal_in(replies).hand(0) == own["cards"]


async def test_the_chain_of_the_replayed_hand_holds(replies: Sequence[Sequence[Json]]) -> None:
    """By the document's formula alone, every update shown right after another follows from it by hash."""
    assert chain_breaks(replies, table_id_in(replies)) == []


async def test_a_changed_reply_is_found(steps: Sequence[Step]) -> None:
    """A transcript with one card changed in one reply does not pass: comparing replies can fail."""
    changed = [copy.deepcopy(step) for step in steps]
    played = next(update for step in changed for update in updates_in([step.shown]) if update["type"] == "CardsPlayed")
    event_of(played)["cards"][0] = "2s"
    async with running() as address:
        with pytest.raises(AssertionError, match="cards"):
            await asyncio.to_thread(_replayed, address, changed)


@pytest.mark.parametrize(
    ("shown", "came"),
    [
        ({"version": 3}, {"version": 4}),
        ({"version": 3}, {"version": 3, "seat": 1}),
        ({"version": 3, "seat": 1, "…": "…"}, {"version": 3}),
        (["a", "…"], ["a"]),
        (["a"], ["a", "b"]),
        ({"hash": "AAAA"}, {"hash": "AAAA"}),
        ({"dueAt": "2026-01-31T08:05:09.000123Z"}, {"dueAt": "2026-01-31T08:05:09Z"}),
        ({"active": True}, {"active": 1}),
    ],
)
def test_what_differs_is_found(shown: object, came: object) -> None:
    """Another value, a member too many or too few, and a hash or instant of another form do not match."""
    with pytest.raises(AssertionError):
        Matching().check(shown, came)


def test_a_table_keeps_its_id() -> None:
    """The table shown may have another id in this run, but one only."""
    matching = Matching()
    matching.check({"tableId": "shown"}, {"tableId": "now"})
    matching.check({"tableId": "shown"}, {"tableId": "now"})
    with pytest.raises(AssertionError):
        matching.check({"tableId": "shown"}, {"tableId": "another"})


def test_steps_are_read_as_they_are_written(steps: Sequence[Step]) -> None:
    """Writing a step and reading it again gives the step."""
    assert steps_in("```console\n" + "\n".join(map(block_of, steps)) + "\n```") == list(steps)
