"""`baohuang rebuild-stream`: empty the stream in JetStream and fill it again from the log; or compare them."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import asyncpg
import typer
from rich.console import Console
from rich.text import Text

from baohuang.database.pool import Limits, open_pool
from baohuang.eventlog.port import EventLogError
from baohuang.stream.address import NatsAddress
from baohuang.stream.connection import connect_to
from baohuang.stream.lease import Lease, LeaseLost
from baohuang.stream.log_source import LogSource
from baohuang.stream.port import Number, StreamError
from baohuang.stream.rebuilding import Comparison, compare, rebuild
from baohuang.stream.streams import TABLE_STREAM
from baohuang.tls.files import CertificateError, Tls
from table_service.relaying import LOG_SOURCE, RELAY_IDENTITY


@dataclass(frozen=True, slots=True)
class _Servers:
    """Where log and stream are, credentials included."""

    postgres_dsn: str
    nats: NatsAddress
    keeping: int


def rebuild_stream(
    *,
    postgres_dsn: Annotated[str, typer.Option(envvar="BAOHUANG_POSTGRES_DSN", help="the event log's PostgreSQL")],
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
) -> None:
    """Empty the stream of tables in JetStream, fill it again from the log, and compare the two.

    The services may go on meanwhile: consumers are sent everything again and know what they have. Exits with 1 when the
    stream is not the log.
    """
    console = Console()
    try:
        servers = _Servers(postgres_dsn, _address(nats_url, Tls(nats_ca, nats_cert, nats_key)), stream_servers)
        if not check:
            asyncio.run(_rebuild(servers, console))
        comparison = asyncio.run(_compare(servers))
    except (StreamError, EventLogError, LeaseLost, CertificateError, asyncpg.PostgresError, OSError) as error:
        Console(stderr=True).print(Text(f"rebuild-stream: {error}", style="red"), soft_wrap=True)
        raise typer.Exit(1) from None
    console.print(Text("\n".join(report(comparison))))
    if not comparison.equal:
        raise typer.Exit(1)


def report(comparison: Comparison) -> list[str]:
    """Say in lines what a comparison found."""
    lines = [f"log     {comparison.in_source} events", f"stream  {comparison.in_stream} messages"]
    if comparison.differs_at is not None:
        return [*lines, f"message {comparison.differs_at} is missing in the stream, or is not the log's"]
    if not comparison.equal:
        return [*lines, f"the stream has messages after {comparison.in_source}, where the log ends"]
    return [*lines, "the stream is the log"]


def _address(url: str, files: Tls) -> NatsAddress:
    return NatsAddress(url, None if files == Tls() else files)


async def _rebuild(servers: _Servers, console: Console) -> None:
    async with await open_pool(servers.postgres_dsn, 1, Limits(), RELAY_IDENTITY) as pool:
        with console.status("filling") as status:

            def told(number: Number) -> None:
                status.update(f"filling: {number} messages")

            connect = connect_to(servers.nats, "baohuang rebuild-stream")
            await rebuild(
                LogSource(pool), TABLE_STREAM.kept_by(servers.keeping), Lease(pool, LOG_SOURCE), connect, told
            )


async def _compare(servers: _Servers) -> Comparison:
    async with await open_pool(servers.postgres_dsn, 1, Limits(), RELAY_IDENTITY) as pool:
        return await compare(LogSource(pool), TABLE_STREAM, connect_to(servers.nats, "baohuang rebuild-stream --check"))
