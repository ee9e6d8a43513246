"""`baohuang verify`: whether the log is what was played, and what is wrong where if it is not."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Annotated

import msgspec
import typer

from baohuang.audit.findings import Finding
from baohuang.audit.log import LogAudit
from baohuang.audit.stream import Depth
from baohuang.audit.survey import open_survey
from baohuang.eventlog.port import StreamId
from baohuang.eventlog.postgres.log import open_log
from command_line.audit.asking import PostgresDsn, answered


def verify(
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
    as_json: Annotated[
        bool, typer.Option("--json", help="one JSON object a finding, then one of what was read")
    ] = False,
    postgres_dsn: PostgresDsn,
) -> None:
    """Check hash chains, decide every command and make every deal again, from the log alone, while play goes on.

    Exits with 1 if anything is wrong, 2 if that cannot be told.
    """
    if streams and since:
        raise typer.BadParameter("goes with the whole log, not with tables", param_hint="--since")
    depth = Depth.CHAIN if chain_only else Depth.DECISIONS
    moment = since.replace(tzinfo=UTC) if since else None
    answered(_verify(postgres_dsn, [StreamId(name) for name in streams or ()], moment, depth, as_json=as_json))


async def _verify(dsn: str, streams: list[StreamId], since: datetime | None, depth: Depth, *, as_json: bool) -> int:
    wrong = 0
    async with open_log(dsn, readers=1) as log, open_survey(dsn) as survey:
        audit = LogAudit(log, depth)
        findings = _of_streams(audit, streams) if streams else audit.whole(survey, since)
        async for finding in findings:
            wrong += 1
            print(_json(finding) if as_json else f"✗ {finding}", flush=True)
    tally = audit.tally
    if as_json:
        print(msgspec.json.encode({"streams": tally.streams, "events": tally.events, "findings": wrong}).decode())
    else:
        mark, what = ("✗", f"{wrong} things are wrong") if wrong else ("✓", "nothing is wrong")
        print(f"{mark} {what}: {tally.streams} streams, {tally.events} events")
    return wrong


async def _of_streams(audit: LogAudit, streams: list[StreamId]) -> AsyncIterator[Finding]:
    for stream_id in streams:
        async for finding in audit.stream(stream_id):
            yield finding


def _json(finding: Finding) -> str:
    place = {"stream": finding.stream_id, "version": finding.version}
    told = {"check": finding.check.value, **place, "clause": finding.clause, "message": finding.message}
    return msgspec.json.encode(told).decode()
