"""A record as JSON: one key of the heading a line, then one event a line, so that it can be read and compared."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from baohuang.eventlog.codec import encode
from baohuang.handrecord.form import FORMAT, VERSION, heading_of
from baohuang.handrecord.record import HandRecord, RecordedEvent

_json: Final = msgspec.json.Encoder().encode


def write_record(record: HandRecord) -> bytes:
    """Return the document, UTF-8, ending in a newline: the same for the same record.

    Raises ValueError for a hand that did not end.
    """
    label = {"format": FORMAT, "version": VERSION, "variant": record.variant}
    heading: dict[str, Any] = msgspec.to_builtins(heading_of(record))
    lines = [b'"%s": %s' % (key.encode(), _json(value)) for key, value in (label | heading).items()]
    events = b",\n".join(_entries(record.events))
    return b"{\n" + b",\n".join(lines) + b',\n"events": [\n' + events + b"\n]}\n"


def _entries(events: tuple[RecordedEvent, ...]) -> Iterator[bytes]:
    for recorded in events:
        name, data = encode(recorded.event)
        entry = {"version": recorded.version, "at": recorded.at, "type": name, "data": msgspec.Raw(data)}
        yield _json(entry)
