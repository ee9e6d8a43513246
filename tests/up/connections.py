"""Which process has which end of a TCP connection, by what Linux says of both."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

_ESTABLISHED = "01"


def connections_of(pids: Iterable[int], port: int) -> Counter[int]:
    """Count the connections to a loopback port that each process has accepted."""
    accepted = _sockets_at(port)
    return Counter({pid: len(_sockets_of(pid) & accepted) for pid in pids})


def _sockets_at(port: int) -> set[str]:
    """Return the inodes of the sockets of established connections whose local port this is."""
    tables = (Path("/proc/net", name).read_text().splitlines()[1:] for name in ("tcp", "tcp6"))
    rows = (line.split() for lines in tables for line in lines)
    return {row[9] for row in rows if int(row[1].rpartition(":")[2], 16) == port and row[3] == _ESTABLISHED}


def _sockets_of(pid: int) -> set[str]:
    links = []
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            links.append(str(entry.readlink()))
        except FileNotFoundError:  # closed meanwhile
            continue
    return {link.removeprefix("socket:[").removesuffix("]") for link in links if link.startswith("socket:[")}
