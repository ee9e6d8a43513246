"""docs/settings.md: every variable that a service reads, made of its settings classes.

`python -m deploy.settings_page`, with `tests` on the path, writes it.
"""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from baohuang.rpc.settings import ServerSettings
from baohuang.stream.settings import NatsSettings
from baohuang.tracing.settings import TraceSettings
from deploy.told import PREFIX, SETTINGS
from deploy.tree import ROOT

PATH: Final = ROOT / "docs/settings.md"
_FOLLOWING: Final = ", ".join(f"`{name}`" for name, kind in SETTINGS.items() if issubclass(kind, NatsSettings))
_HEAD: Final = """# Settings

The environment variables that `baohuang serve SERVICE` reads: those of all, those of NATS if it uses it, its own, and
those of traces. One that it needs and is not told, or cannot use, ends the service at the start with its name; one that
nothing reads, misspelt perhaps, is warned of in a line. Yes or no is `true` or `false`. Seconds are a day at most,
counts and bytes 1,000,000,000, unless a line says otherwise. Other commands tell their variables by `--help`.

This page is made of the settings' classes by `python -m deploy.settings_page`; a test holds it to them.
"""


def page() -> str:
    """Return it."""
    return "\n".join((_HEAD, *_sections()))


def _sections() -> Iterator[str]:
    yield _section("Every service", _fields(ServerSettings))
    yield _section(f"Those on NATS: {_FOLLOWING}", _fields(NatsSettings, ServerSettings))
    for service, kind in SETTINGS.items():
        above = NatsSettings if issubclass(kind, NatsSettings) else ServerSettings
        yield _section(f"`{service}`", _fields(kind, above))
    yield _section("Traces, of every service", _fields(TraceSettings))


def _fields(kind: type[BaseModel], above: type[BaseModel] | None = None) -> Mapping[str, FieldInfo]:
    """Return those that a class has and the one above it has not, by the names of their variables."""
    known = above.model_fields if above else {}
    return {
        str(field.validation_alias or f"{PREFIX}{name.upper()}"): field
        for name, field in kind.model_fields.items()
        if name not in known
    }


def _section(title: str, fields: Mapping[str, FieldInfo]) -> str:
    rows = [f"| `{name}` | {_default(field)} | {field.description} |\n" for name, field in fields.items()]
    return f"## {title}\n\n| variable | without it | says |\n|---|---|---|\n{''.join(rows)}"


def _default(field: FieldInfo) -> str:
    """Return what holds when the variable is not there."""
    match field.default:
        case _ if field.is_required():
            return "does not start"
        case None | "":
            return "none"
        case bool(value):
            return f"`{str(value).lower()}`"
        case float(value):
            return f"`{value:g}`"
        case value:
            return f"`{value}`"


def main(path: Path = PATH) -> None:
    """Write it."""
    path.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{path.name} is written\n")


if __name__ == "__main__":
    main()
