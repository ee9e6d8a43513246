"""The transcript in the document: grpcurl commands and the replies shown under them."""

import json
import re
import shlex
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from .reflected import Json

ADDRESS: Final = "127.0.0.1:50051"
WIDTH: Final = 132
_BLOCK: Final = re.compile(r"```console\n(.*?)```", re.DOTALL)
_PROMPT: Final = "$ "
_FOREGROUND: Final = "fg"
_INTERRUPTED: Final = "^C"


@dataclass(frozen=True, slots=True)
class Call:
    """One grpcurl command. `background`: it ends in `&`, and `fg` shows what came since."""

    method: str
    body: str
    headers: tuple[tuple[str, str], ...]
    background: bool = False


@dataclass(frozen=True, slots=True)
class Foreground:
    """`fg`: what the stream in the background has brought."""


@dataclass(frozen=True, slots=True)
class Step:
    """A command, and the replies shown, in order."""

    command: Call | Foreground
    shown: tuple[Json, ...]


def steps_in(text: str) -> Sequence[Step]:
    """Return the steps of all console blocks. Raises ValueError for a command that is not understood."""
    return [step for block in _BLOCK.findall(text) for step in _steps_of_block(block)]


def block_of(step: Step) -> str:
    """Write a step as the document has it, without the fence."""
    lines = [_PROMPT + _written(step.command), *map(dump, step.shown)]
    streamed = isinstance(step.command, Foreground) or step.command.method.endswith("/WatchTable")
    background = isinstance(step.command, Call) and step.command.background
    return "\n".join([*lines, _INTERRUPTED] if streamed and not background else lines)


def dump(value: Any, indent: int = 0) -> str:
    """Write JSON, whatever fits on one line on one line."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) + indent <= WIDTH or not isinstance(value, dict | list):
        return flat
    inner, pad = indent + 2, " " * (indent + 2)
    if isinstance(value, dict):
        entries = [f"{pad}{json.dumps(key, ensure_ascii=False)}: {dump(item, inner)}" for key, item in value.items()]
        return "{\n" + ",\n".join(entries) + "\n" + " " * indent + "}"
    if all(isinstance(item, str | int) for item in value):
        text = ", ".join(json.dumps(item, ensure_ascii=False) for item in value)
        return "[\n" + textwrap.fill(text, WIDTH, initial_indent=pad, subsequent_indent=pad) + "\n" + " " * indent + "]"
    return "[\n" + ",\n".join(pad + dump(item, inner) for item in value) + "\n" + " " * indent + "]"


def _written(command: Call | Foreground) -> str:
    if isinstance(command, Foreground):
        return _FOREGROUND
    headers = " ".join(f"-H '{key}: {value}'" for key, value in command.headers)
    tail = " &" if command.background else ""
    lines = (
        f"grpcurl -plaintext -format-error {headers}",
        f"    -d '{command.body}'",
        f"    {ADDRESS} {command.method}{tail}",
    )
    return " \\\n".join(lines)


def _steps_of_block(block: str) -> Iterator[Step]:
    for part in re.split(r"^\$ ", block.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
        line, _, output = part.partition("\n")
        yield Step(_command(line), tuple(_json_values(output.replace(_INTERRUPTED, ""))))


def _command(line: str) -> Call | Foreground:
    words = shlex.split(line)
    if words == [_FOREGROUND]:
        return Foreground()
    if words[0] != "grpcurl":
        raise ValueError(f"no grpcurl command: {line}")
    background = words[-1] == "&"
    address, method = words[-3:-1] if background else words[-2:]
    if address != ADDRESS:
        raise ValueError(f"another address than the document's: {line}")
    values = list(pairwise(words))
    headers = tuple((key, value) for flag, text in values if flag == "-H" for key, _, value in [text.partition(": ")])
    (body,) = (text for flag, text in values if flag == "-d")
    return Call(method, body, headers, background)


def _json_values(text: str) -> Iterator[Json]:
    decoder, rest = json.JSONDecoder(), text.strip()
    while rest:
        value, end = decoder.raw_decode(rest)
        yield value
        rest = rest[end:].strip()
