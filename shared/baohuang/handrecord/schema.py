"""The JSON Schema of the format, made of the very types that write it: `python -m baohuang.handrecord.schema`.

`docs/hand-record.schema.json` is its output; a test holds the two equal.
"""

import sys
from typing import Any, Final

import msgspec

from baohuang.eventlog.codec import json_form
from baohuang.handrecord.course import WITHIN
from baohuang.handrecord.form import FORMAT, VERSION, Document, Entry
from baohuang.handrecord.values import INSTANT
from baohuang.rules.events import HandFinished, HandStarted, TableDissolved

_DEFINITIONS: Final = "#/$defs/{name}"
_IN_A_RECORD: Final = sorted(cls.__name__ for cls in (*WITHIN, HandStarted, HandFinished, TableDissolved))


def schema() -> dict[str, Any]:
    """Return the schema of a record, JSON Schema draft 2020-12."""
    types = [Document, *(json_form(name) for name in _IN_A_RECORD)]
    _, definitions = msgspec.json.schema_components(types, ref_template=_DEFINITIONS)
    document: dict[str, Any] = definitions.pop(Document.__name__)
    del definitions[Entry.__name__]
    document["properties"] |= {"format": {"const": FORMAT}, "version": {"const": VERSION}}
    document["properties"]["events"] = {
        "type": "array",
        "minItems": 2,
        "items": {"anyOf": [_entry(name) for name in _IN_A_RECORD]},
    }
    document["required"] = ["format", "version", *document["required"]]
    for name in ("startedAt", "finishedAt"):
        document["properties"][name] = _instant()
    about: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A hand of 保皇, version 1",
    }
    return about | document | {"$defs": definitions}


def _entry(name: str) -> dict[str, Any]:
    properties = {
        "version": {"type": "integer", "minimum": 1},
        "at": _instant(),
        "type": {"const": name},
        "data": {"$ref": _DEFINITIONS.format(name=name)},
    }
    return {"type": "object", "properties": properties, "required": list(properties)}


def _instant() -> dict[str, Any]:
    return {"type": "string", "pattern": f"^{INSTANT}$"}


def schema_text() -> bytes:
    """Return the schema as it stands in the tree."""
    return msgspec.json.format(msgspec.json.encode(schema(), order="sorted"), indent=1) + b"\n"


if __name__ == "__main__":
    sys.stdout.buffer.write(schema_text())
