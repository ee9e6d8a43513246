"""A backend for the length of one command: it is stopped, and its folder removed, however the command ends."""

import asyncio
import signal
from collections.abc import AsyncIterator, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import TypeVar

from command_line.backend import LocalBackend
from command_line.services import Service
from command_line.surroundings import BackendOptions

T = TypeVar("T")


@asynccontextmanager
async def backend_for(seed: int | None, beside: Sequence[Service] = ()) -> AsyncIterator[LocalBackend]:
    """Run a backend in a folder that is removed at the end; it shuffles from the seed if there is one.

    `beside` are the services to run beside the table service.
    """
    with _folder() as folder:
        options = BackendOptions(folder, dev_seed=seed, insecure_dev=True, beside=beside)
        async with LocalBackend(options) as backend:
            yield backend


@contextmanager
def _folder() -> Iterator[Path]:
    with TemporaryDirectory(prefix="baohuang-", ignore_cleanup_errors=True) as name:
        # The account that PostgreSQL runs as has to pass through it.
        folder = Path(name)
        folder.chmod(0o711)
        try:
            yield folder
        finally:
            _remove_stand_ins(folder)


def _remove_stand_ins(folder: Path) -> None:
    """Remove what was put elsewhere, since the servers' account could not get here; links in the folder say where."""
    for stand_in in {link.resolve().parent for link in folder.iterdir() if link.is_symlink()}:
        rmtree(stand_in, ignore_errors=True)


async def stoppable(running: Coroutine[None, None, T]) -> T:
    """Cancel it at Ctrl-C, SIGTERM and SIGHUP, so that whatever it started is stopped and removed."""
    task, loop = asyncio.ensure_future(running), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, task.cancel)
    return await task


async def while_alive(backend: LocalBackend, playing: Coroutine[None, None, T]) -> T:
    """Return what comes of it. Raises ServerDied as soon as a process of the backend ends by itself."""
    played, death = asyncio.create_task(playing), asyncio.create_task(backend.first_death())
    try:
        await asyncio.wait((played, death), return_when=asyncio.FIRST_COMPLETED)
        if not played.done():
            raise death.result()
        return played.result()
    finally:
        played.cancel()
        death.cancel()
        await asyncio.gather(played, death, return_exceptions=True)
