"""Old records replay for ever: every golden history, on every run."""

from hashlib import sha256
from itertools import groupby
from typing import Final

import pytest

from baohuang.audit.decisions import Decisions
from baohuang.audit.inputs import Recorded
from baohuang.eventlog import chain
from baohuang.eventlog.codec import decode, encode
from baohuang.eventlog.port import StreamId
from baohuang.handrecord import public, read_record, replay, result_of, write_record
from baohuang.handrecord.from_log import recorded_of
from baohuang.rules.evolve import fold
from baohuang.rules.rulesets import RULESETS
from baohuang.rules.state import Instant, PlayerId
from golden.histories import DIGESTS, FOLDER, ending_of, read_history
from golden.kinds import COURSES, RULINGS, kinds_of
from handrecord.hands import cut

FILES: Final = sorted(FOLDER.glob("*.jsonl"))


def test_no_record_was_edited_or_lost() -> None:
    """Every file is the one whose digest was noted when it was made, and every one noted is there."""
    noted = DIGESTS.read_text("ascii").splitlines()
    assert sorted(noted) == sorted(f"{sha256(path.read_bytes()).hexdigest()}  tables/{path.name}" for path in FILES)


def test_they_hold_everything() -> None:
    """All six rulesets, rulings of every kind, and every course a hand can take."""
    histories = [read_history(path) for path in FILES]
    kinds = kinds_of(decode(one.type, one.data) for history in histories for one in history.stored)
    assert kinds >= RULINGS
    assert kinds >= COURSES
    assert {history.ending.ruleset for history in histories} == set(RULESETS)


@pytest.mark.parametrize("name", [path.name for path in FILES])
def test_it_replays(name: str) -> None:
    """The chain holds, every command decides as then, each hand's record comes back, and all ends as noted."""
    history = read_history(FOLDER / name)
    stream_id = StreamId(history.ending.table)
    assert chain.verify(chain.start(stream_id), history.stored).version == history.ending.version
    assert [encode(decode(one.type, one.data)) for one in history.stored] == [
        (one.type, one.data) for one in history.stored
    ]
    decisions = Decisions(stream_id)
    for _, group in groupby(history.stored, key=lambda one: one.request_id):
        rows = list(group)
        events = tuple(decode(one.type, one.data) for one in rows)
        at = Instant(chain.instant(rows[0].recorded_at))
        assert not list(decisions.follow(Recorded(rows[0].version, PlayerId(rows[0].actor), at, events)))
    events_recorded = [recorded_of(one) for one in history.stored]
    table = fold(one.event for one in events_recorded)
    assert table is not None
    assert ending_of(table, events_recorded) == history.ending
    for record, result in zip(cut(events_recorded), history.ending.hands, strict=True):
        end = fold(one.event for one in record.events)
        for kept in (record, public(record)):
            read = read_record(write_record(kept))
            assert (read, result_of(read)) == (kept, result)
            assert read.events[0].version == record.events[0].version
        assert replay(record)[-1].table == end
