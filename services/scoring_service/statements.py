"""What is read of the ledger: scores, accounts, entries."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from baohuang.rpc.reading import Reader
from baohuang.rules.state import PlayerId
from baohuang.scoring.events import CODEC, HandScored, PostingNumber
from scoring_service.entries import AccountName
from scoring_service.queries import query

_HAND_SCORE: Final = query("hand_score")
_ACCOUNT: Final = query("account")
_LIST_ENTRIES: Final = query("list_entries")


@dataclass(frozen=True, slots=True)
class Account:
    """An account: the sum of its entries, how many they are, and the posting of the last; zeros without any."""

    balance: int = 0
    entries: int = 0
    last_posting: int = 0


@dataclass(frozen=True, slots=True)
class Place:
    """Where an entry stands in the ledger."""

    posting: PostingNumber
    line: int


@dataclass(frozen=True, slots=True)
class BookedEntry:
    """An entry with the balance after it, and the posting it belongs to."""

    posting: PostingNumber
    line: int
    account: AccountName
    points: int
    balance: int
    type: str
    table_id: str
    hand: int | None
    version: int
    happened_at: datetime


@dataclass(frozen=True, slots=True)
class HandScore:
    """The score of a hand, and whether its table is private: for those who played it, operators and services."""

    score: HandScored
    private: bool

    def is_for(self, player: PlayerId) -> bool:
        """Whether the player may know of it."""
        return not self.private or any(seat.player == player for seat in self.score.seats)


class Statements:
    """Reads the ledger. All of it raises Unavailable when the database does not answer."""

    def __init__(self, reader: Reader) -> None:
        self._reader: Final = reader

    async def hand_score(self, table_id: str, hand: int) -> HandScore | None:
        """Return the score of a hand, None if it is not in the ledger."""
        rows = await self._reader.fetch(_HAND_SCORE, table_id, hand)
        if not rows:
            return None
        score = CODEC.decode(rows[0]["type"], rows[0]["data"])
        if not isinstance(score, HandScored):
            raise TypeError(f"{table_id} hand {hand} is posted as {type(score).__name__}")
        return HandScore(score, rows[0]["private"])

    async def account(self, account: AccountName) -> Account:
        """Return an account."""
        rows = await self._reader.fetch(_ACCOUNT, account)
        return Account(*rows[0]) if rows else Account()

    async def entries(self, account: AccountName | None, before: Place, limit: int) -> Sequence[BookedEntry]:
        """Return up to `limit` entries, of one account or of all, newest first, older than a place."""
        rows = await self._reader.fetch(_LIST_ENTRIES, account, before.posting, before.line, limit)
        return [BookedEntry(*row) for row in rows]
