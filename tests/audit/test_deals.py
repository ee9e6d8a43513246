"""Anybody deals a finished hand again from what he was shown: a spectator, a player, whoever has the log."""

from dataclasses import replace

import pytest

from audit.honest import Play
from baohuang.audit.deals import DealAudit
from baohuang.rules import events as ev
from baohuang.rules.deal import commitment_to
from baohuang.rules.redact import redact
from baohuang.rules.rulesets import RULESETS
from baohuang.rules.state import ALL_SEATS, TableId


def played(ruleset: str, seed: int) -> list[ev.Event]:
    """Return the events of a hand played at random."""
    play = Play(TableId("table"), ruleset, seed, restless=0)
    return [event for _, events in play.commands(1) for event in events]


def wrong(events: list[ev.Event]) -> list[tuple[str, str]]:
    """Return what is wrong with their deals: by which clause, and what."""
    audit = DealAudit()
    return [(one.clause, one.message) for version, event in enumerate(events, 1) for one in audit.take(version, event)]


def shown(events: list[ev.Event], viewer: int | None) -> list[ev.Event]:
    """Return the events as they were shown while the hand was played."""
    return [redact(event, viewer, hand_over=False) for event in events]


def swapped(events: list[ev.Event], seat: int) -> list[ev.Event]:
    """Return the events with a card of a seat's changed for one of another's, as they were dealt."""
    place = next(index for index, event in enumerate(events) if isinstance(event, ev.CardsDealt))
    dealt = events[place]
    assert isinstance(dealt, ev.CardsDealt)
    assert dealt.hidden is not None
    card = dealt.hidden.hands[seat - 1].cards[-1]
    hands = tuple(
        replace(held, cards=(*held.cards[:-1], card)) if held.seat == seat else held for held in dealt.hidden.hands
    )
    return [*events[:place], replace(dealt, hidden=ev.HiddenHands(hands)), *events[place + 1 :]]


@pytest.mark.parametrize("ruleset", RULESETS)
def test_an_honest_deal(ruleset: str) -> None:
    """From the whole log, as each seat and as a spectator: nothing is wrong."""
    events = played(ruleset, 1)
    assert wrong(events) == []
    for viewer in (None, *ALL_SEATS):
        assert wrong(shown(events, viewer)) == []


def test_cards_that_were_not_dealt() -> None:
    """Whoever was dealt another card than seed and entropy give sees that by his own events alone; others do not."""
    events = swapped(played("homy-weihai", 1), 2)
    assert wrong(shown(events, 2)) == [("FAIR-1", "seat 2 was not dealt what seed and entropy give")]
    assert wrong(shown(events, 3)) == []


def test_a_seed_that_was_not_committed_to() -> None:
    """A seed that suits better, opened in place of the one that was committed to."""
    events = played("ourgame-simple", 6)
    finished = events.index(next(event for event in events if isinstance(event, ev.HandFinished)))
    end = events[finished]
    assert isinstance(end, ev.HandFinished)
    for seeds in (("11" * 32, *end.seeds[1:]), ("no hexadecimal", *end.seeds[1:])):
        forged = [*events[:finished], replace(end, seeds=seeds), *events[finished + 1 :]]
        assert wrong(shown(forged, None)) == [("FAIR-1", "the seed that is opened is not the one committed to")]
    without = [*events[:finished], replace(end, seeds=()), *events[finished + 1 :]]
    assert [clause for clause, _ in wrong(without)] == ["FAIR-1"]


def test_another_commitment_and_another_dealer() -> None:
    """A hand begun by another commitment than the published one, and cards dealt from another seat on."""
    events = played("ourgame-simple", 1)
    committed = next(event for event in events if isinstance(event, ev.SeedCommitted))
    other = replace(committed, commitment=commitment_to(bytes(32)))
    told = wrong([other if event is committed else event for event in events])
    assert told == [("FAIR-1", "the hand is not begun by the commitment that was published for it")]
    dealt = next(event for event in events if isinstance(event, ev.CardsDealt))
    moved = [replace(dealt, dealer=1) if event is dealt else event for event in events]
    assert ("DEAL-1", "the cards were not dealt from the dealer on, one at a time") in wrong(shown(moved, None))
