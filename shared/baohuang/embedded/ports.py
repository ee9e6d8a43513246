"""Loopback ports."""

import secrets
import socket
from pathlib import Path

LOOPBACK = "127.0.0.1"


_OURS = range(15_000, 32_000)
"""Below those that systems give to connections (32768 on Linux): one of these nobody takes by chance."""
_TRIES = 50


def free_port() -> int:
    """Give a loopback TCP port that was free a moment ago; another process may take it before its user does."""
    for _ in range(_TRIES):
        chosen = secrets.choice(_OURS)
        if is_free(chosen):
            return chosen
    with socket.socket() as listener:
        listener.bind((LOOPBACK, 0))
        port: int = listener.getsockname()[1]
        return port


def is_free(port: int) -> bool:
    """Whether `port` on loopback can be bound now (0, "any", can be)."""
    with socket.socket() as listener:
        # Servers set it too: without it a port whose last connections are in TIME_WAIT would count as taken.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((LOOPBACK, port))
        except OSError:
            return False
        return True


def kept_port(home: Path) -> int:
    """Give the port noted in `home/port` while it is free, else a free one, noted there for the next start."""
    noted = _note(home).read_text() if _note(home).exists() else ""
    if noted.isdigit() and is_free(int(noted)):
        return int(noted)
    port = free_port()
    note_port(home, port)
    return port


def note_port(home: Path, port: int) -> None:
    """Note a port in `home/port`: `kept_port` gives it from then on, `noted_port` says where a server is."""
    _note(home).write_text(str(port))


def noted_port(home: Path) -> int:
    """Give the port noted in `home/port`. Raises OSError, ValueError."""
    return int(_note(home).read_text())


def _note(home: Path) -> Path:
    return home / "port"
