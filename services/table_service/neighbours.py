"""The other replicas that serve the same tables, as far as this one talks to them.

A port: `pokes` fills it over NATS, and without NATS there is nobody to talk to. Nothing may depend on what is said here
being heard: the log tells the same to whoever polls it.
"""

from typing import Protocol

from baohuang.eventlog.port import Version
from baohuang.rules.state import PlayerId, TableId


class Neighbours(Protocol):
    """What this replica tells the others; telling neither waits nor fails."""

    def appended(self, table_id: TableId, version: Version) -> None:
        """Tell that this replica appended to a table, which is now at that version."""

    def watching(self, table_id: TableId, player: PlayerId, stream: str) -> None:
        """Tell that a player with a seat at the table opened a stream of it here; stream ids are ordered by time."""


class NoNeighbours:
    """Nobody to talk to."""

    def appended(self, table_id: TableId, version: Version) -> None:
        """See `Neighbours.appended`."""

    def watching(self, table_id: TableId, player: PlayerId, stream: str) -> None:
        """See `Neighbours.watching`."""
