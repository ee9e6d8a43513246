"""`baohuang rebuild-stream`: empty a stream in JetStream and fill it again from its source; or compare them."""

import asyncio
import enum
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, assert_never

import asyncpg
import typer
from rich.console import Console
from rich.text import Text

from baohuang.database.pool import Identity, Limits, Pool, open_pool
from baohuang.eventlog.port import EventLogError
from baohuang.stream.address import NatsAddress
from baohuang.stream.connection import connect_to
from baohuang.stream.lease import Lease, LeaseLost
from baohuang.stream.log_source import LogSource
from baohuang.stream.port import Number, Source, StreamError
from baohuang.stream.rebuilding import Comparison, SourceBehind, check_nothing_is_lost, compare, rebuild
from baohuang.stream.streams import SCORING_STREAM, TABLE_STREAM, StreamName
from baohuang.tls.files import CertificateError, Tls
from command_line.dsn import sound_dsn
from scoring_service.ledger_source import LedgerSource
from scoring_service.schema import ROLE, SCHEMA
from table_service.relaying import LOG_SOURCE, RELAY_IDENTITY


@dataclass(frozen=True, slots=True)
class _Servers:
    """Where source and stream are, credentials included."""

    postgres_dsn: str
    nats: NatsAddress
    keeping: int


class Streamed(enum.StrEnum):
    """What goes over a stream of its own, by the service that publishes it."""

    TABLE = "table"
    SCORING = "scoring"


@dataclass(frozen=True, slots=True)
class _Carried:
    """A source, its stream and the lease of who publishes it; what the source is called, and what it has."""

    name: StreamName
    identity: Identity
    source: Callable[[Pool], Source]
    lease: str
    called: str
    has: str


def rebuild_stream(
    stream: Annotated[
        Streamed, typer.Argument(help="the log's stream, which table publishes, or the ledger's, which scoring does")
    ] = Streamed.TABLE,
    *,
    postgres_dsn: Annotated[
        str, typer.Option(envvar="BAOHUANG_POSTGRES_DSN", callback=sound_dsn, help="the event log's PostgreSQL")
    ],
    nats_url: Annotated[str, typer.Option(envvar="BAOHUANG_NATS_URL", help="the NATS to fill")],
    nats_ca: Annotated[
        Path | None, typer.Option(envvar="BAOHUANG_NATS_CA", help="PEM file of its authorities, with tls://")
    ] = None,
    nats_cert: Annotated[
        Path | None, typer.Option(envvar="BAOHUANG_NATS_CERT", help="PEM file of the certificate to show it")
    ] = None,
    nats_key: Annotated[
        Path | None, typer.Option(envvar="BAOHUANG_NATS_KEY", help="PEM file of that certificate's key")
    ] = None,
    stream_servers: Annotated[
        int, typer.Option(envvar="BAOHUANG_STREAM_SERVERS", min=1, max=5, help="how many servers of a cluster keep it")
    ] = 1,
    check: Annotated[bool, typer.Option("--check", help="change nothing, compare only")] = False,
    give_up_the_rest: Annotated[
        bool,
        typer.Option("--give-up-the-rest", help="empty it even if it ends after the log, or the ledger: that is lost"),
    ] = False,
) -> None:
    """Empty a stream in JetStream, fill it again from the log, or the ledger, and compare the two.

    The services may go on meanwhile: consumers are sent everything again and know what they have. A stream that ends
    after its source is left as it is: the database may not be restored whole. Exits with 1 then, and when the stream is
    not the log.
    """
    console, carried = Console(), _carried(stream)
    try:
        servers = _Servers(postgres_dsn, _address(nats_url, Tls(nats_ca, nats_cert, nats_key)), stream_servers)
        if not check and not give_up_the_rest:
            asyncio.run(_check(carried, servers))
        if not check:
            asyncio.run(_rebuild(carried, servers, console))
        comparison = asyncio.run(_compare(carried, servers))
    except SourceBehind as behind:
        Console(stderr=True).print(Text(_refusal(carried, behind), style="red"), soft_wrap=True)
        raise typer.Exit(1) from None
    except (StreamError, EventLogError, LeaseLost, CertificateError, asyncpg.PostgresError, OSError) as error:
        Console(stderr=True).print(Text(f"rebuild-stream: {error}", style="red"), soft_wrap=True)
        raise typer.Exit(1) from None
    console.print(Text("\n".join(_report(carried, comparison))))
    if not comparison.equal:
        raise typer.Exit(1)


def _carried(stream: Streamed) -> _Carried:
    match stream:
        case Streamed.TABLE:
            return _Carried(TABLE_STREAM, RELAY_IDENTITY, LogSource, LOG_SOURCE, "log", "events")
        case Streamed.SCORING:
            identity = Identity("baohuang relay", ROLE, SCHEMA.name)
            return _Carried(SCORING_STREAM, identity, LedgerSource, SCORING_STREAM.name, "ledger", "postings")
    assert_never(stream)


def _refusal(carried: _Carried, behind: SourceBehind) -> str:
    return (
        f"rebuild-stream: the stream has {behind.in_stream} messages, the {carried.called} {behind.in_source}"
        f" {carried.has}: nothing was changed. Was the database restored whole? If the rest is to be lost, say"
        " --give-up-the-rest"
    )


def _report(carried: _Carried, comparison: Comparison) -> list[str]:
    """Say in lines what a comparison found."""
    lines = [
        f"{carried.called:<7} {comparison.in_source} {carried.has}",
        f"stream  {comparison.in_stream} messages",
    ]
    if comparison.differs_at is not None:
        return [*lines, f"message {comparison.differs_at} is missing in the stream, or is not the {carried.called}'s"]
    if not comparison.equal:
        return [*lines, f"the stream has messages after {comparison.in_source}, where the {carried.called} ends"]
    return [*lines, f"the stream is the {carried.called}"]


def _address(url: str, files: Tls) -> NatsAddress:
    return NatsAddress(url, None if files == Tls() else files)


async def _check(carried: _Carried, servers: _Servers) -> None:
    async with await open_pool(servers.postgres_dsn, 1, Limits(), carried.identity) as pool:
        connect = connect_to(servers.nats, "baohuang rebuild-stream")
        await check_nothing_is_lost(carried.source(pool), carried.name, connect)


async def _rebuild(carried: _Carried, servers: _Servers, console: Console) -> None:
    async with await open_pool(servers.postgres_dsn, 1, Limits(), carried.identity) as pool:
        with console.status("filling") as status:

            def told(number: Number) -> None:
                status.update(f"filling: {number} messages")

            connect, name = connect_to(servers.nats, "baohuang rebuild-stream"), carried.name.kept_by(servers.keeping)
            await rebuild(carried.source(pool), name, Lease(pool, carried.lease), connect, told)


async def _compare(carried: _Carried, servers: _Servers) -> Comparison:
    async with await open_pool(servers.postgres_dsn, 1, Limits(), carried.identity) as pool:
        connect = connect_to(servers.nats, "baohuang rebuild-stream --check")
        return await compare(carried.source(pool), carried.name, connect)
