"""`baohuang verify`: whether the log is what was played, and what is wrong where if it is not."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from baohuang.audit.checkpointing import Keys, check_kept, check_stored
from baohuang.audit.checkpoints import Checkpoint, StreamEnd
from baohuang.audit.findings import Finding
from baohuang.audit.kept import KeptFileError, read_ends, read_first
from baohuang.audit.log import LogAudit
from baohuang.audit.stream import Depth
from baohuang.audit.survey import Survey, open_survey
from baohuang.eventlog.port import StreamId
from baohuang.eventlog.postgres.log import open_reader
from baohuang.rpc.keys import BadKeySetError, key_set
from command_line.audit.asking import PostgresDsn, answered, cannot_tell
from command_line.priority import give_way
from command_line.saying import say


class EmptyLogError(Exception):
    """There is nothing that could be right or wrong: a database that nobody has played in yet, or a lost one."""


@dataclass(frozen=True, slots=True)
class _Question:
    """What is verified: some streams or, if there are none, all since a moment; and against which checkpoints."""

    streams: Sequence[StreamId]
    since: datetime | None
    depth: Depth
    kept: Path | None
    keys: Keys | None


def verify(
    context: typer.Context,
    *,
    streams: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TABLE]...", help="tables, or `player:NAME` for a player's bans; none: the whole log"),
    ] = None,
    since: Annotated[
        datetime | None, typer.Option(help="only what had an event since then (UTC), such as 2026-05-04T12:00:00")
    ] = None,
    chain_only: Annotated[
        bool, typer.Option("--chain-only", help="hashes, versions and positions; decide nothing again")
    ] = False,
    checkpoints: Annotated[
        Path | None, typer.Option(help="a file that `baohuang checkpoint --to` wrote: is the log still what it says")
    ] = None,
    keys: Annotated[
        Path | None, typer.Option(help="the JWK set that checkpoints are checked with, those in the log as well")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="one JSON object a finding, then one of what was read")
    ] = False,
    postgres_dsn: PostgresDsn,
) -> None:
    """Check hash chains, decide every command and make every deal again, from the log alone, while play goes on.

    It gives way to what else runs on the machine. Exits with 1 if anything is wrong, 2 if that cannot be told: a log
    without any event, too, is one of which nothing can be told.
    """
    give_way(context)
    if streams and (since or keys):
        raise typer.BadParameter("goes with the whole log, not with tables", param_hint="--since, --keys")
    if checkpoints and not keys:
        raise typer.BadParameter("is needed to know whether a checkpoint is genuine", param_hint="--keys")
    question = _Question(
        [StreamId(name) for name in streams or ()],
        since.replace(tzinfo=UTC) if since else None,
        Depth.CHAIN if chain_only else Depth.DECISIONS,
        checkpoints,
        _keys_of(keys) if keys else None,
    )
    answered(_verify(postgres_dsn, question, as_json=as_json))


async def _verify(dsn: str, question: _Question, *, as_json: bool) -> int:
    wrong = 0
    async with AsyncExitStack() as stack:
        audit = LogAudit(await stack.enter_async_context(open_reader(dsn, readers=1)), question.depth)
        survey = await stack.enter_async_context(open_survey(dsn))
        try:
            async for finding in _findings(audit, survey, question):
                wrong += 1
                say(_json(finding) if as_json else f"✗ {finding}")
        except KeptFileError as error:
            cannot_tell(error)
        if not (wrong or question.streams) and await _is_empty(survey):
            cannot_tell(EmptyLogError("the log is empty: it has no event at all"))
    tally = audit.tally
    if as_json:
        say(msgspec.json.encode({"streams": tally.streams, "events": tally.events, "findings": wrong}).decode())
    else:
        mark, what = ("✗", f"{wrong} things are wrong") if wrong else ("✓", "nothing is wrong")
        say(f"{mark} {what}: {tally.streams} streams, {tally.events} events")
    return wrong


async def _is_empty(survey: Survey) -> bool:
    counted, stored = await survey.last_position()
    return not (counted or stored)


async def _findings(audit: LogAudit, survey: Survey, question: _Question) -> AsyncIterator[Finding]:
    for stream_id in question.streams:
        async for finding in audit.stream(stream_id):
            yield finding
    if question.streams:
        return
    async for finding in audit.whole(survey, question.since):
        yield finding
    if question.keys is not None:
        async for finding in check_stored(survey, question.keys):
            yield finding
        if question.kept is not None:
            checkpoint = _first_of(question.kept)
            async for finding in check_kept(survey, checkpoint, partial(_ends_of, question.kept), question.keys):
                yield finding


def _first_of(path: Path) -> Checkpoint:
    with path.open(encoding="utf-8") as file:
        return read_first(file)


def _ends_of(path: Path) -> Iterator[StreamEnd]:
    with path.open(encoding="utf-8") as file:
        read_first(file)
        yield from read_ends(file)


def _keys_of(path: Path) -> Keys:
    try:
        return key_set(path.read_bytes()).by_id
    except (BadKeySetError, OSError) as error:
        cannot_tell(error)


def _json(finding: Finding) -> str:
    place = {"stream": finding.stream_id, "version": finding.version}
    told = {"check": finding.check.value, **place, "clause": finding.clause, "message": finding.message}
    return msgspec.json.encode(told).decode()
