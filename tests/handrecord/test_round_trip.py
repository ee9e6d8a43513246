"""Export → import → replay: nothing of a hand is lost on the way."""

from typing import Final

import pytest

from baohuang.handrecord import (
    HandRecord,
    Variant,
    as_seen_by,
    public,
    read_record,
    replay,
    result_of,
    write_record,
)
from baohuang.rules.events import HandFinished
from baohuang.rules.evolve import fold
from baohuang.rules.redact import mask, redact
from baohuang.rules.rulesets import RULESETS, Options
from baohuang.rules.state import ALL_SEATS
from handrecord.hands import cut, games, recorded
from rules.playing import Game

HANDS: Final = 1000
_OPTIONS: Final = {"ourgame-classic": Options(short_deck=True, roast=True), "ourgame-simple": Options(roast=True)}
_SEEN: Final = 40
"""One hand in so many is gone through as the public and as every seat saw it, too."""


@pytest.mark.parametrize("ruleset", RULESETS)
def test_export_import_replay(ruleset: str) -> None:
    """A thousand random hands of all rulesets come back equal, and replay to the very table and points at their end."""
    count = -(-HANDS // len(RULESETS))
    checked = 0
    for game, _ in games(ruleset, "round trip", count, _OPTIONS.get(ruleset)):
        record = cut(recorded(game))[-1]
        _comes_back(game, record, record)
        if checked % _SEEN == 0:
            _comes_back(game, record, public(record))
            _is_seen(record)
        checked += 1
    assert checked == count


def _comes_back(game: Game, record: HandRecord, written: HandRecord) -> None:
    """Check that a record, full or public, is read back equal, and its replay ends as the table's hand did."""
    document = write_record(written)
    read = read_record(document)
    assert read == written
    assert write_record(read) == document
    end = replay(read)[-1].table
    after = game.events[record.events[-1].version :]
    assert fold(after, end) == game.table
    assert end.hand is not None
    assert end.hand.result is not None
    finished = next(event for event in reversed(game.events) if isinstance(event, HandFinished))
    assert result_of(read).points == end.hand.result.points == finished.points


def _is_seen(record: HandRecord) -> None:
    """Check that each view is the fold of what its viewer was shown, and the public record the public's view."""
    steps = replay(read_record(write_record(record)))
    for viewer in (None, *ALL_SEATS):
        seen = as_seen_by(viewer, steps)
        shown = fold(redact(one.event, viewer, hand_over=False) for one in record.events)
        assert seen[-1].table == shown == mask(steps[-1].table, viewer)
    assert replay(read_record(write_record(public(record)))) == as_seen_by(None, steps)
    assert public(public(record)) == public(record)
    assert public(record).variant is Variant.PUBLIC
