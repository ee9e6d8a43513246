"""The ledger as the source of the stream `baohuang-scoring`: message n is posting n."""

from collections.abc import Sequence
from typing import Final

from baohuang.database.pool import FAILURES, Pool
from baohuang.eventlog.port import LogUnavailable
from baohuang.scoring.messages import message_of
from baohuang.stream.port import Message, Number
from scoring_service.queries import query

_AFTER: Final = query("postings_after")


class LedgerSource:
    """A `Source` that ends where an event waits to be scored: who follows the ledger depends on its order."""

    def __init__(self, pool: Pool) -> None:
        self._pool: Final = pool

    async def read(self, after: Number, limit: int) -> Sequence[Message]:
        """See `Source.read`."""
        try:
            rows = await self._pool.fetch(_AFTER, after, limit)
        except FAILURES as error:
            raise LogUnavailable(f"{type(error).__name__}: {error}") from error
        return [message_of(row["number"], row["table_id"], row["type"], row["data"]) for row in rows]
