"""`baohuang up`: the backend on this machine until Ctrl-C."""

import asyncio
import signal
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from baohuang.embedded.errors import EmbeddedServerError
from command_line.backend import BackendOptions, LocalBackend, MigrationError

DEFAULT_DATA_DIR = Path(".baohuang")


def command(
    *,
    data: Annotated[Path, typer.Option(help="folder for databases, logs and ports")] = DEFAULT_DATA_DIR,
    port: Annotated[int, typer.Option(min=0, max=65535, help="the table service's port; 0 keeps the last one")] = 0,
    dev_seed: Annotated[int | None, typer.Option(min=0, help="shuffle from this seed: the same deals again")] = None,
    insecure_dev: Annotated[
        bool, typer.Option(help="believe each client's own word on who it is (this machine only)")
    ] = True,
    postgres_dsn: Annotated[
        str | None,
        typer.Option(envvar="BAOHUANG_POSTGRES_DSN", help="a PostgreSQL of yours, instead of an embedded one"),
    ] = None,
    nats_url: Annotated[
        str | None, typer.Option(envvar="BAOHUANG_NATS_URL", help="a NATS of yours, instead of an embedded one")
    ] = None,
) -> None:
    """Run PostgreSQL, NATS and the services on this machine, until Ctrl-C."""
    options = BackendOptions(data, postgres_dsn, nats_url, port, dev_seed, insecure_dev)
    try:
        asyncio.run(run(options, Console()))
    except (EmbeddedServerError, MigrationError, OSError) as error:
        Console(stderr=True).print(Text(str(error), style="red"))
        raise typer.Exit(1) from None


async def run(options: BackendOptions, console: Console) -> None:
    """Start the backend, tell where it is, and stop it at SIGINT or SIGTERM.

    Raises EmbeddedServerError or MigrationError when it cannot start, and when one of its processes ends by itself.
    """
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    running = asyncio.create_task(_run_until_death(options, console))
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


async def _run_until_death(options: BackendOptions, console: Console) -> None:
    async with LocalBackend(options) as backend:
        console.print(endpoints(options, backend))
        raise await backend.first_death()


def endpoints(options: BackendOptions, backend: LocalBackend) -> Table:
    """Give what a user needs to know of the running backend; servers of his own are named without credentials."""
    table = Table(title="baohuang is up", title_justify="left", show_header=False, box=None)
    table.add_column(style="bold")
    table.add_column(overflow="fold")  # a cut DSN is of no use
    table.add_row("gRPC", backend.table.address)
    table.add_row("PostgreSQL", "yours" if options.postgres_dsn else backend.postgres_dsn)
    table.add_row("NATS", "yours" if options.nats_url else backend.nats_url)
    table.add_row("data", str(options.data_dir.resolve()))
    table.add_row("callers", _callers(options))
    return table


def _callers(options: BackendOptions) -> str:
    if options.insecure_dev:
        return "whoever they say they are (metadata baohuang-player); for development only"
    return "none: no way to know them is configured"
