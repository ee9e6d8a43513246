"""The JetStream streams and their subjects: `baohuang.v1.<area>.<table id>.<type>`."""

from dataclasses import dataclass, replace
from typing import Final, Self
from urllib.parse import quote, unquote

ROOT: Final = "baohuang.v1"


@dataclass(frozen=True, slots=True)
class StreamName:
    """A stream, the area whose subjects it takes, and how many servers of a cluster keep it where it is made."""

    name: str
    area: str
    servers: int = 1

    def kept_by(self, servers: int) -> Self:
        """Return it as one that so many servers keep."""
        return replace(self, servers=servers)

    @property
    def all_subjects(self) -> str:
        """Return the wildcard for all of the stream."""
        return f"{ROOT}.{self.area}.>"

    def subject(self, table_id: str, kind: str) -> str:
        """Return the subject of a message about a table."""
        return f"{ROOT}.{self.area}.{token(table_id)}.{token(kind)}"

    def table_id_of(self, subject: str) -> str:
        """Return the table that a message of the stream is about, by its subject."""
        return unquote(subject.removeprefix(f"{ROOT}.{self.area}.").partition(".")[0])

    def of_kind(self, kind: str) -> str:
        """Return the wildcard for one kind of message, of all tables."""
        return f"{ROOT}.{self.area}.*.{token(kind)}"


TABLE_STREAM: Final = StreamName("baohuang-table", "table")
"""The event log, as everybody may see it."""
SCORING_STREAM: Final = StreamName("baohuang-scoring", "scoring")
"""Scoring's ledger."""


def token(text: str) -> str:
    """Return the text as one token of a subject: as it is if it is plain, else percent-encoded, dots too."""
    return quote(text, safe="").replace(".", "%2E")
