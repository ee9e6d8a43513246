"""Loopback ports."""

import socket
from pathlib import Path

LOOPBACK = "127.0.0.1"


def free_port() -> int:
    """Give a loopback TCP port that was free a moment ago; another process may take it before its user does."""
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
    note = home / "port"
    noted = note.read_text() if note.exists() else ""
    if noted.isdigit() and is_free(int(noted)):
        return int(noted)
    port = free_port()
    note.write_text(str(port))
    return port
