"""A ledger that follows a log without NATS between them: the log's own messages, delivered as a test wants it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from baohuang.database.pool import Identity, Limits, Pool, open_pool
from baohuang.scoring.events import CODEC, Posted
from baohuang.stream.applying import Apply, Applying
from baohuang.stream.log_source import LogSource
from baohuang.stream.port import NO_NUMBER, Message
from baohuang.stream.public_log import settling_between
from baohuang.stream.table_messages import SETTLING
from rating.following import Ratings
from rating_service.wiring import open_ratings
from scoring_service.entries import entries_of
from scoring_service.ledger_source import LedgerSource
from scoring_service.scoring import score
from scoring_service.wiring import SUBSCRIPTION

MANY = 1_000_000


@dataclass(frozen=True, slots=True)
class Ledger:
    """The ledger of a database, and the log it follows."""

    pool: Pool
    source: LogSource

    @classmethod
    @asynccontextmanager
    async def of(cls, dsn: str, pool: Pool) -> AsyncIterator["Ledger"]:
        """Give the ledger of a pool; the log is read as the relay reads it."""
        async with await open_pool(dsn, 1, Limits(), Identity("relay", "baohuang_app")) as log:
            yield cls(pool, LogSource(log))

    async def messages(self) -> Sequence[Message]:
        """Return the messages that points follow from, as the stream would bring them."""
        found = await self.source.read(NO_NUMBER, MANY)
        return [message for message in found if message.subject.rpartition(".")[2] in SETTLING]

    def replica(self, apply: Apply = score) -> Applying:
        """Return another replica's consumer."""
        return Applying(self.pool, SUBSCRIPTION, apply, settling_between)

    async def follow(self) -> None:
        """Score all that the log has, in order."""
        await self.replica().take(await self.messages())

    async def postings(self) -> Sequence[Posted]:
        """Return what is posted, in order."""
        rows = await self.fetch("select type, data from postings order by number")
        return [CODEC.decode(row["type"], row["data"]) for row in rows]

    async def balances(self) -> dict[str, int]:
        """Return the balances of all accounts."""
        return {row["account"]: row["balance"] for row in await self.fetch("select account, balance from accounts")}

    async def fetch(self, text: str, *arguments: object) -> Sequence[Any]:
        """Ask the ledger's tables."""
        rows: Sequence[Any] = await self.pool.fetch(text, *arguments)
        return rows


def balances_of(postings: Sequence[Posted]) -> dict[str, int]:
    """Add up what postings book, independently of the ledger's own sums."""
    balances: dict[str, int] = {}
    for posting in postings:
        for entry in entries_of(posting):
            balances[entry.account] = balances.get(entry.account, 0) + entry.points
    return balances


async def rated(dsn: str, ledger: Ledger) -> None:
    """Have ratings follow the ledger to its end."""
    async with await open_ratings(dsn) as pool:
        await Ratings(pool).replica().take(await LedgerSource(ledger.pool).read(NO_NUMBER, MANY))
