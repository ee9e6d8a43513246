"""The processes of a running `baohuang up`, each to be killed by its id, and only if it is a child of that run."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

POSTGRES: Final = "postgres"
BACKEND: Final = "postgres backend"
"""A process of PostgreSQL that serves a connection, or one of its workers: all others are restarted with it."""
KINDS: Final = ("table", "scoring", "rating", "matchmaking", "bots", "nats", POSTGRES, BACKEND)
"""What is killed; each at least once a run."""
_PID_FILES: Final = {POSTGRES: "postgres/data/postmaster.pid", "nats": "nats/nats.pid"}


@dataclass(frozen=True, slots=True)
class Victims:
    """The processes of the `up` with this process id and data folder, which runs so many replicas of tables."""

    up: int
    data: Path
    table_replicas: int

    def kill(self, kind: str, chance: Random) -> int | None:
        """Kill a process of that kind as a crash would, and give its id; None while there is none."""
        pid = self._backend(chance) if kind == BACKEND else self._child(kind, chance)
        if pid is None:
            return None
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return None
        return pid

    def all_run(self) -> bool:
        """Tell whether there is a process of every kind."""
        chance = Random(0)  # noqa: S311 - any will do
        return all(self._child(kind, chance) is not None for kind in KINDS if kind != BACKEND)

    def _child(self, kind: str, chance: Random) -> int | None:
        name = f"table-{chance.randint(1, self.table_replicas)}" if kind == "table" else kind
        return self._noted(_PID_FILES.get(name, f"{name}/pid"))

    def _noted(self, pid_file: str) -> int | None:
        """Return the process that is noted there, if it runs and `up` is its parent."""
        try:
            pid = int((self.data / pid_file).read_text().split()[0])
        except (FileNotFoundError, IndexError):  # being started
            return None
        return pid if _parent(pid) == self.up else None

    def _backend(self, chance: Random) -> int | None:
        postmaster = self._noted(_PID_FILES[POSTGRES])
        if postmaster is None:
            return None
        children = [pid for pid in _all_processes() if _parent(pid) == postmaster]
        return chance.choice(sorted(children)) if children else None


def _all_processes() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _parent(pid: int) -> int | None:
    """Return the parent of a process, None if it does not run."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, parent = stat.rpartition(")")[2].split()[:2]  # the name before may hold anything
    return int(parent) if state not in "ZX" else None
