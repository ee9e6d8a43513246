"""Other processes of ours."""

import asyncio
import os
import sys
from pathlib import Path

_CHECKOUT = Path(__file__).parents[2]
_SOURCES = os.pathsep.join(str(_CHECKOUT / root) for root in ("shared", "services", "tests"))


async def start_module(module: str, *arguments: str) -> asyncio.subprocess.Process:
    """Start a module of the tests in a process of its own."""
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        module,
        *arguments,
        env={**os.environ, "PYTHONPATH": _SOURCES},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def run_module(module: str, *arguments: str) -> str:
    """Run a module of the tests in a process of its own and return what it printed; it has to end well."""
    process = await start_module(module, *arguments)
    printed, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    return printed.decode()
