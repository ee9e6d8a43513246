"""The steps of bringing a cluster up: make it once, launch the server, wait until it answers."""

import asyncio
import os
import secrets
import shutil
import signal
import time
from pathlib import Path
from urllib.parse import quote

import asyncpg

from baohuang.embedded.account import Account
from baohuang.embedded.child import POLL_SECONDS, Child, Program
from baohuang.embedded.ports import LOOPBACK
from baohuang.embedded.postgres_binaries import PostgresBinaries

SUPERUSER = "baohuang"
DATABASE = "baohuang"
START_SECONDS = 60.0

_SETTINGS = {
    "listen_addresses": LOOPBACK,
    "unix_socket_directories": "",
    "shared_buffers": "128MB",
    "max_connections": "100",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "fsync": "on",
    "synchronous_commit": "on",
}


def dsn(home: Path, port: int, database: str = DATABASE) -> str:
    """Give the superuser's DSN for the cluster in `home`."""
    password = quote((home / "password").read_text())
    return f"postgresql://{SUPERUSER}:{password}@{LOOPBACK}:{port}/{database}"


async def make_cluster(home: Path, account: Account, binaries: PostgresBinaries) -> None:
    """Make `home/data` and `home/password`. An interrupted try leaves no `home/data`. Raises ServerDied."""
    staging = home / "data.new"
    if staging.exists():
        await asyncio.to_thread(shutil.rmtree, staging)
    account.private_folder(staging)
    _write_password(home / "password", account)
    arguments = [str(binaries.initdb), "-D", str(staging), "-U", SUPERUSER, "--encoding=UTF8", "--locale=C"]
    arguments += ["--auth=scram-sha-256", f"--pwfile={home / 'password'}"]
    child = Child.start(_program(home, account, binaries, *arguments))
    try:
        if await child.wait() != 0:
            raise child.died()
    finally:
        await child.stop(())
    staging.rename(home / "data")


def launch(home: Path, account: Account, binaries: PostgresBinaries, port: int) -> Child:
    """Start the server on `port`. Should we die first, it shuts down by itself where the system can tell it."""
    arguments = [str(binaries.postgres), "-D", str(home / "data"), "-p", str(port)]
    for name, value in _SETTINGS.items():
        arguments += ["-c", f"{name}={value}"]
    return Child.start(_program(home, account, binaries, *arguments))


async def answers(child: Child, home: Path, port: int) -> bool:
    """Wait until a client can log in; False when the process ended, or START_SECONDS went by."""
    deadline = time.monotonic() + START_SECONDS
    while child.exit_code is None and time.monotonic() < deadline:
        try:
            connection = await asyncpg.connect(dsn(home, port, "postgres"), timeout=5)
        except (OSError, asyncpg.PostgresError):  # not listening yet; or listening, and recovering from a crash
            await asyncio.sleep(POLL_SECONDS)
        else:
            await connection.close()
            return True
    return False


async def ensure_database(home: Path, port: int) -> str:
    """Create the application's database unless it is there; give its DSN."""
    connection = await asyncpg.connect(dsn(home, port, "postgres"))
    try:
        if not await connection.fetchval("SELECT 1 FROM pg_database WHERE datname = $1", DATABASE):
            await connection.execute(f"CREATE DATABASE {DATABASE}")
    finally:
        await connection.close()
    return dsn(home, port)


def _program(home: Path, account: Account, binaries: PostgresBinaries, *arguments: str) -> Program:
    """Run `arguments` in `home` as `account`; SIGINT is PostgreSQL's fast shutdown, and ends initdb too."""
    name = Path(arguments[0]).name
    return Program(name, arguments, home / f"{name}.log", home, binaries.environment, account, signal.SIGINT)


def _write_password(path: Path, account: Account) -> None:
    """Write a random password, readable by `account` (initdb reads it too) and nobody else."""
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_urlsafe(32))
    os.chown(path, account.uid, account.gid)
