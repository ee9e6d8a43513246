"""The worked examples in the document are what its own formulas give for the transcript."""

from collections.abc import Callable, Sequence

import pytest

from baohuang.rules.deal import dealt, shuffled
from baohuang.rules.rulesets import Deck
from protocol import document
from protocol.reflected import Json
from protocol.transcript import Step, steps_in
from protocol.vectors import chain_breaks, chain_example, deal_example, deal_in, event_of, table_id_in, updates_in


@pytest.fixture
def shown() -> Sequence[Sequence[Json]]:
    """Give the replies that the document shows."""
    return [step.shown for step in steps_in(document.part("transcript", document.text()))]


@pytest.mark.parametrize(("name", "example"), [("deal", deal_example), ("chain", chain_example)])
def test_a_worked_example_is_recomputed(name: str, example: Callable[[Sequence[Step]], str]) -> None:
    """Computed from the transcript, the example is the document's, byte for byte."""
    steps = steps_in(document.part("transcript", document.text()))
    assert document.part(name, document.text()) == example(steps)


def test_the_document_deals_as_the_service_does(shown: Sequence[Sequence[Json]]) -> None:
    """The algorithm as the document tells it and the service's own give the same five hands."""
    deal = deal_in(shown)
    hands = dealt(shuffled(Deck.FULL, deal.seed, deal.entropy), deal.dealer)
    assert [deal.hand(seat) for seat in range(5)] == list(map(list, hands))


def test_the_chain_shown_holds(shown: Sequence[Sequence[Json]]) -> None:
    """Every update shown right after another follows from it; there are many."""
    assert chain_breaks(shown, table_id_in(shown)) == []
    assert len(updates_in(shown)) > 25


def test_a_changed_event_breaks_the_chain(shown: Sequence[Sequence[Json]]) -> None:
    """One card changed in an update shows in its hash."""
    messages = next(messages for messages in shown if any(u["type"] == "CardsPlayed" for u in updates_in([messages])))
    played = next(update for update in updates_in([messages]) if update["type"] == "CardsPlayed")
    event_of(played)["cards"][0] = "2s"
    assert chain_breaks([messages], table_id_in(shown)) == [played["version"]]
