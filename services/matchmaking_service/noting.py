"""Noting tables: those that were opened at one time are noted by one statement, and their watchers told."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Final

from baohuang.database.flush_queue import Kind
from baohuang.database.group_commit import FlushRefused, GroupCommit, Pace
from baohuang.database.pool import FAILURES, Pool
from baohuang.rules.state import TableId
from matchmaking_service.matching import PartyId
from matchmaking_service.queries import query
from matchmaking_service.tickets import MatchId

_NOTE: Final = query("note_tables")
_PACE: Final = Pace(patience=2.0, between=0.1)


class NotNoted(Exception):  # noqa: N818 (a state of the match)
    """The table is there and its match may not say so: whoever takes the match next finds it again."""


@dataclass(frozen=True, slots=True)
class Seated:
    """The table of a match."""

    match_id: MatchId
    table_id: TableId


Noting = GroupCommit[Seated, None]


def noting(pool: Pool, told: Callable[[Sequence[PartyId]], None]) -> Noting:
    """Return what notes tables, to be entered; `told` is called with parties that sit now.

    `settled` raises NotNoted.
    """

    async def send(batch: Sequence[Seated]) -> Sequence[None]:
        try:
            rows = await pool.fetch(_NOTE, [one.match_id for one in batch], [one.table_id for one in batch])
        except FAILURES as error:
            raise FlushRefused(NotNoted(f"{type(error).__name__}: {error}")) from error
        told([PartyId(row["party_id"]) for row in rows])
        return [None] * len(batch)

    return GroupCommit(_TABLES, send, _PACE)


def _match(seated: Seated) -> Hashable:
    return seated.match_id


def _word(_outcome: object) -> str:
    return "Noted"


_TABLES: Final[Kind[Seated, None]] = Kind(
    name="tables of matches",
    lane=_match,
    word=_word,
    order=_match,
    busy=NotNoted,
    unknown=NotNoted,
    closed=NotNoted,
    unstorable=NotNoted,
)
