"""`baohuang explain`: a ruling as it can be sent to the player it is about."""

import enum
from typing import Annotated, Any, Final

import msgspec
import typer

from baohuang.audit.explaining import NotARulingError, explain
from baohuang.audit.judgement import Judgement
from baohuang.audit.told import Told
from baohuang.eventlog.port import StreamId, Version
from baohuang.eventlog.postgres.log import open_reader
from command_line.audit.asking import PostgresDsn, answered, cannot_tell
from command_line.saying import say

_LAST: Final = 2**31 - 1
"""The last version that a stream can have."""


class Language(enum.StrEnum):
    """In which language a judgement is told."""

    ENGLISH = "en"
    CHINESE = "zh"


def explain_ruling(
    *,
    table: Annotated[str, typer.Argument(help="the table, or `player:NAME` for a player's bans")],
    version: Annotated[int, typer.Argument(min=1, max=_LAST, help="the version of the ruling in the table's stream")],
    language: Annotated[Language, typer.Option("--language", help="English or Chinese")] = Language.ENGLISH,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object, in both languages")] = False,
    postgres_dsn: PostgresDsn,
) -> None:
    """Tell what was decided, by which clause, the moments it rests on, and whether it follows from the log alone.

    Exits with 1 if the ruling, or the record of its hand up to it, does not hold; 2 if there is no ruling there.
    """
    answered(_explain(postgres_dsn, StreamId(table), Version(version), None if as_json else language))


async def _explain(dsn: str, stream_id: StreamId, version: Version, language: Language | None) -> int:
    async with open_reader(dsn, readers=1) as log:
        try:
            judgement = await explain(log, stream_id, version)
        except NotARulingError as error:
            cannot_tell(error)
    if language is None:
        document = {"stream": stream_id, **_in_camel_case(msgspec.to_builtins(judgement))}
        say(msgspec.json.encode(document).decode())
    else:
        for line in lines_of(stream_id, judgement, language):
            say(line)
    return len(judgement.findings)


def _in_camel_case(document: Any) -> Any:
    """Return a document with the names that other commands print."""
    match document:
        case dict():
            return {_camel(name): _in_camel_case(value) for name, value in document.items()}
        case list() | tuple():
            return list(map(_in_camel_case, document))
        case _:
            return document


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


def lines_of(stream_id: StreamId, told: Judgement, language: Language) -> list[str]:
    """Return what is printed: first of all, if the ruling was taken back, that it was."""
    chinese = language is Language.CHINESE

    def words(both: Told) -> str:
        return both.chinese if chinese else both.english

    clause = told.clause.chinese if chinese else told.clause.english
    holds = Told("decided again from the log alone, it is the same", "仅凭记录重新裁定，结果相同")
    broken = Told("the record does not bear it out:", "记录不支持此裁定：")
    broken_by = Told("for who looks into it:", "供核查者参考：")
    back = [words(told.reversed_by.told)] if told.reversed_by else []
    first, *rest = (*back, words(told.decided))
    return [
        f"{stream_id} @ {told.version}: {first}",
        *rest,
        f"{told.rule}: {clause}",
        *(f"  {moment.at}  @{moment.version}  {words(moment.told)}" for moment in told.timeline),
        f"✓ {words(holds)}" if told.follows else f"✗ {words(broken)}",
        *(f"  {words(wrong)}" for wrong in told.wrong),
        *((words(broken_by), *(f"  {finding}" for finding in told.findings)) if told.findings else ()),
    ]
