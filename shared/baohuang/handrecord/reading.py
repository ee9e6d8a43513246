"""A record out of JSON that anybody may have written: read whole and checked, or refused with the field named."""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

import msgspec

from baohuang.eventlog.codec import decode
from baohuang.eventlog.json_codec import MalformedEventError, UnknownEventTypeError
from baohuang.handrecord.consistency import check_deals, check_points
from baohuang.handrecord.course import check_course
from baohuang.handrecord.form import FORMAT, MOST_BYTES, VERSION, Document, Entry, Heading, Label, heading_of
from baohuang.handrecord.malformed import MalformedRecord
from baohuang.handrecord.record import HandRecord, RecordedEvent
from baohuang.handrecord.replaying import replay
from baohuang.handrecord.values import check_instant, check_values
from baohuang.rules.state import Instant

_T = TypeVar("_T")
_PLACE: Final = " - at `$"
"""Before the path at the end of what msgspec says."""


def read_record(document: bytes) -> HandRecord:
    """Return the record of a document, UTF-8.

    Its events hang together: they are those of one finished hand, cards are played by who holds them, the deals follow
    from the opened seeds (FAIR-1), the points from the outcome, and what stands before the events from these.
    Keys that the format does not have are passed over. Raises MalformedRecord.
    """
    if len(document) > MOST_BYTES:
        raise MalformedRecord("", f"a record has at most {MOST_BYTES} bytes, this has {len(document)}")
    _check_label(_decoded(document, Label))
    read = _decoded(document, Document)
    record = HandRecord(read.variant, tuple(_event(number, entry) for number, entry in enumerate(read.events)))
    check_course(record)
    end = replay(record)[-1].table
    check_deals(record)
    check_points(record, end)
    _check_heading(read, record)
    return record


def _decoded(document: bytes, form: type[_T]) -> _T:
    try:
        return msgspec.json.decode(document, type=form)
    except msgspec.ValidationError as error:
        what, _, place = str(error).partition(_PLACE)
        raise MalformedRecord(place.strip(".`"), what) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise MalformedRecord("", f"not JSON: {error}") from error
    except RecursionError as error:
        raise MalformedRecord("", "nested too deeply") from error


def _check_label(label: Label) -> None:
    if label.format != FORMAT:
        raise MalformedRecord("format", f"must be {FORMAT}, not {label.format!r}")
    if label.version != VERSION:
        raise MalformedRecord("version", f"this release reads version {VERSION}, not {label.version}")


def _event(number: int, entry: Entry) -> RecordedEvent:
    where = f"events[{number}]"
    check_instant(f"{where}.at", entry.at)
    try:
        event = decode(entry.type, bytes(entry.data))
    except UnknownEventTypeError as error:
        raise MalformedRecord(f"{where}.type", str(error)) from error
    except MalformedEventError as error:
        what, _, place = str(error).removeprefix(f"{entry.type}: ").partition(_PLACE)
        raise MalformedRecord(f"{where}.data{place.rstrip('`')}", what) from error
    except RecursionError as error:
        raise MalformedRecord(f"{where}.data", "nested too deeply") from error
    check_values(f"{where}.data", event)
    return RecordedEvent(entry.version, Instant(entry.at), event)


def _check_heading(read: Document, record: HandRecord) -> None:
    """Check that what stands before the events is what they say."""
    found, expected = _flat(read), _flat(heading_of(record))
    for field, value in expected.items():
        if found[field] != value:
            raise MalformedRecord(field, f"is {_shown(found[field])}, the events say {_shown(value)}")


def _flat(heading: Heading) -> Mapping[str, Any]:
    """Return the values of the heading by the names that they have in the document."""
    names = zip(Heading.__struct_fields__, Heading.__struct_encode_fields__, strict=True)
    values: dict[str, Any] = {written: msgspec.to_builtins(getattr(heading, name)) for name, written in names}
    result: dict[str, Any] = values.pop("result")
    return values | {f"result.{name}": value for name, value in result.items()}


def _shown(value: object) -> str:
    return msgspec.json.encode(value).decode()
