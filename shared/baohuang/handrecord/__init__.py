"""One finished hand as a document of its own: written, read back, and replayed to the same state and points.

The format is documented in `docs/hand-record.md`. It is the hand's events, and what a reader wants to know of them at
once; so it needs neither the log nor this package to be followed.

    hand_of(log, table_id, number)        the log → HandRecord, full          from_log
    public(record)                        → what everybody was shown          record
    write_record / read_record            HandRecord ↔ JSON                   writing, reading
    replay(record), as_seen_by(...)       → the table as each event left it   replaying

All but `from_log` is pure.

    MalformedRecord    a document that is no record of a hand; names the field
    NoSuchHand         the log has no such hand
    StillPlayed        the hand is not over, and nobody gets to see it before
"""

from baohuang.handrecord.from_log import NoSuchHand, StillPlayed, hand_of
from baohuang.handrecord.malformed import MalformedRecord
from baohuang.handrecord.reading import read_record
from baohuang.handrecord.record import HandRecord, HandResult, RecordedEvent, Variant, public, result_of
from baohuang.handrecord.replaying import Step, as_seen_by, replay
from baohuang.handrecord.writing import write_record

__all__ = [
    "HandRecord",
    "HandResult",
    "MalformedRecord",
    "NoSuchHand",
    "RecordedEvent",
    "Step",
    "StillPlayed",
    "Variant",
    "as_seen_by",
    "hand_of",
    "public",
    "read_record",
    "replay",
    "result_of",
    "write_record",
]
