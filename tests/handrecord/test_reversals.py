"""A fine that is taken back while the hand is played is part of its record; what is taken back after it is not."""

from dataclasses import replace

import pytest

from baohuang.handrecord import MalformedRecord, public, read_record, replay, result_of, write_record
from baohuang.rules import commands as cmd
from baohuang.rules import events as ev
from baohuang.rules.state import ALL_SEATS, in_progress
from handrecord.hands import cut, recorded
from rules.playing import FORFEIT, OPERATOR, TRUSTEE, Game, given_deal


def reverse_all(game: Game) -> None:
    """Take back all that can be."""
    for ruling in game.hand.reversible:
        kind = "HandVoided" if ruling.seat is None else "PlayerFined"
        if not ruling.reversed_by:
            game.act(OPERATOR, cmd.ReverseRuling(ruling.version, "our fault", kind))


def a_void_hand() -> Game:
    """Return a hand with a fine that was taken back during it, and that was void, which was taken back after it."""
    game = given_deal("ourgame-simple", name="record of reversals").when((1, FORFEIT))
    reverse_all(game)
    game.when(*((seat, TRUSTEE) for seat in ALL_SEATS if seat != 1))
    assert not in_progress(game.table)
    reverse_all(game)
    return game


def test_the_record_of_a_hand_with_reversals() -> None:
    """Written, read and replayed; the result tells what was ruled during the hand."""
    (record,) = cut(recorded(a_void_hand()))
    kinds = [type(one.event) for one in record.events]
    assert ev.FineReversed in kinds
    assert ev.VoidReversed not in kinds
    assert result_of(record).fines == (0, -20, 0, 0, 0)
    assert result_of(record).void
    for kept in (record, public(record)):
        read = read_record(write_record(kept))
        assert read == kept
        assert len(replay(read)) == len(record.events)


def test_a_void_cannot_be_taken_back_before_the_hand_is_over() -> None:
    """A record that says so is refused, its place named."""
    game = a_void_hand()
    (record,) = cut(recorded(game))
    place = next(number for number, one in enumerate(record.events) if isinstance(one.event, ev.FineReversed))
    forged = replace(record.events[place], event=game.last(ev.VoidReversed))
    events = (*record.events[:place], forged, *record.events[place + 1 :])
    with pytest.raises(MalformedRecord, match=rf"events\[{place}\].type"):
        read_record(write_record(replace(record, events=events)))
