"""`baohuang up`: the backend on this machine until Ctrl-C."""

import asyncio
import shlex
import signal
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.text import Text

from baohuang.embedded.errors import EmbeddedServerError
from baohuang.rpc.rate_limit import RateLimit
from baohuang.rpc.settings import DEFAULT_RATE_LIMIT
from command_line.backend import LocalBackend, MigrationError
from command_line.development_key import DEFAULT_DATA_DIR, DevelopmentKeyError
from command_line.dsn import sound_dsn
from command_line.services import BESIDE_TABLES, BOTS, MATCHMAKING, Service
from command_line.supervision import MovedError, supervise
from command_line.surroundings import BackendOptions
from command_line.surroundings import bots_key as key_for_bots

_NAMES: Final = ", ".join(service.name for service in BESIDE_TABLES)
MOST_REPLICAS = 16
"""Each has up to five connections to PostgreSQL, which takes a hundred."""


def command(
    *,
    data: Annotated[Path, typer.Option(help="folder for databases, logs and ports")] = DEFAULT_DATA_DIR,
    port: Annotated[int, typer.Option(min=0, max=65535, help="the table service's port; 0 keeps the last one")] = 0,
    table_replicas: Annotated[
        int, typer.Option(min=1, max=MOST_REPLICAS, help="processes of the table service behind that one port")
    ] = 1,
    without: Annotated[
        list[str] | None,
        typer.Option(help=f"a service not to run, any of {_NAMES}; may be given several times"),
    ] = None,
    dev_seed: Annotated[int | None, typer.Option(min=0, help="shuffle from this seed: the same deals again")] = None,
    insecure_dev: Annotated[
        bool, typer.Option("--insecure-dev", help="believe clients without a token on their own word who they are")
    ] = False,
    jwks: Annotated[
        str | None,
        typer.Option(
            envvar="BAOHUANG_JWKS", help="path or URL of the keys of your tokens, instead of `baohuang token`"
        ),
    ] = None,
    service_token: Annotated[
        str | None,
        typer.Option(
            envvar="BAOHUANG_SERVICE_TOKEN", help="with --jwks: your token of the role service, for matchmaking"
        ),
    ] = None,
    bots_key: Annotated[
        Path | None,
        typer.Option(envvar="BAOHUANG_BOTS_KEY", help="with --jwks: PEM file of one of those keys, for bots"),
    ] = None,
    rate_limit: Annotated[
        float,
        typer.Option(
            envvar="BAOHUANG_RATE_LIMIT_PER_SECOND", min=0.001, help="calls a second of one player; inf for no limit"
        ),
    ] = DEFAULT_RATE_LIMIT.per_second,
    rate_burst: Annotated[
        int, typer.Option(envvar="BAOHUANG_RATE_LIMIT_BURST", min=1, help="calls of one player at once")
    ] = DEFAULT_RATE_LIMIT.burst,
    metrics: Annotated[
        bool, typer.Option("--metrics", envvar="BAOHUANG_METRICS", help="tell Prometheus metrics, each replica its own")
    ] = False,
    postgres_dsn: Annotated[
        str | None,
        typer.Option(
            envvar="BAOHUANG_POSTGRES_DSN", callback=sound_dsn, help="a PostgreSQL of yours, instead of an embedded one"
        ),
    ] = None,
    nats_url: Annotated[
        str | None, typer.Option(envvar="BAOHUANG_NATS_URL", help="a NATS of yours, instead of an embedded one")
    ] = None,
) -> None:
    """Run PostgreSQL, NATS and the services on this machine, until Ctrl-C."""
    if dev_seed is not None and not insecure_dev:
        raise typer.BadParameter("it makes every hand known, so it goes with --insecure-dev", param_hint="--dev-seed")
    wanted = _all_but(without or ())
    if MATCHMAKING in wanted and jwks is not None and service_token is None and not insecure_dev:
        raise typer.BadParameter("with --jwks, matchmaking needs a token of your issuer", param_hint="--service-token")
    options = BackendOptions(
        data,
        postgres_dsn,
        nats_url,
        port,
        dev_seed,
        insecure_dev,
        jwks,
        RateLimit(rate_limit, rate_burst),
        table_replicas,
        wanted,
        service_token,
        bots_key,
        metrics,
    )
    options = replace(options, beside=_vouched_for(options))
    try:
        asyncio.run(run(options, Console()))
    except (EmbeddedServerError, MovedError, MigrationError, DevelopmentKeyError, OSError) as error:
        Console(stderr=True).print(Text(str(error), style="red"), soft_wrap=True)
        raise typer.Exit(1) from None


def _all_but(names: Collection[str]) -> Sequence[Service]:
    """Return the services beside the table service but for those named. Raises BadParameter."""
    for name in names:
        if name not in {service.name for service in BESIDE_TABLES}:
            raise typer.BadParameter(f"{name!r} is not one of {_NAMES}", param_hint="--without")
    return [service for service in BESIDE_TABLES if service.name not in names]


def _vouched_for(options: BackendOptions) -> Sequence[Service]:
    """Return what to run beside the table service: no bots where nothing could vouch for them."""
    vouched = key_for_bots(options) is not None or options.insecure_dev
    return [service for service in options.beside if vouched or service != BOTS]


async def run(options: BackendOptions, console: Console) -> None:
    """Start the backend, tell where it is, and stop it at SIGINT or SIGTERM.

    Raises EmbeddedServerError, MigrationError or DevelopmentKeyError when it cannot start; EmbeddedServerError or
    MovedError when one of its processes ended by itself and could not be started again.
    """
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    running = asyncio.create_task(_keep_running(options, console))
    stopped = asyncio.create_task(stop.wait())
    await asyncio.wait((running, stopped), return_when=asyncio.FIRST_COMPLETED)
    if stop.is_set():
        console.print("stopping")
        running.cancel()
    stopped.cancel()
    try:
        await running
    except asyncio.CancelledError:
        console.print("stopped")


async def _keep_running(options: BackendOptions, console: Console) -> None:
    async with LocalBackend(options) as backend:
        console.print(endpoints(options, backend), soft_wrap=True)
        await supervise(backend.processes, lambda line: console.print(Text(line), soft_wrap=True))


def endpoints(options: BackendOptions, backend: LocalBackend) -> Text:
    """Give what a user needs to know of the running backend; servers of his own are named without credentials.

    One line each, never folded: they are there to be copied.
    """
    lines = {
        "table": backend.table.address,
        **{service.name: process.address for service, process in backend.beside.items()},
        "PostgreSQL": "yours" if options.postgres_dsn else backend.postgres_dsn,
        "NATS": "yours" if options.nats_url else backend.nats_url,
        **{f"metrics of {name}": f"http://{address}/metrics" for name, address in backend.metrics.items()},
        "data": str(options.data_dir.resolve()),
        "callers": _callers(options),
    }
    text = Text("baohuang is up", no_wrap=True)
    for name, value in lines.items():
        text.append(f"\n  {name:<11} ", style="bold").append(value)
    return text


def _callers(options: BackendOptions) -> str:
    if options.jwks is None:
        known = f"with a token of: baohuang token --player NAME --data {shlex.quote(str(options.data_dir))}"
    else:
        known = "with a token of your issuer"
    if options.insecure_dev:
        return f"{known}; without one, whoever they say they are (metadata baohuang-player)"
    return f"{known}, sent as metadata authorization: Bearer TOKEN"
