"""Reading a service's own tables for a call."""

from collections.abc import Sequence
from typing import Any, Final

from baohuang.database.pool import FAILURES, Pool
from baohuang.rpc.errors import Reason, Unavailable


class Reader:
    """Asks the database, and refuses the call when it does not answer."""

    def __init__(self, pool: Pool) -> None:
        self._pool: Final = pool

    async def fetch(self, text: str, *arguments: object) -> Sequence[Any]:
        """Return the rows of a query. Raises Unavailable."""
        try:
            rows: Sequence[Any] = await self._pool.fetch(text, *arguments)
        except FAILURES as error:
            raise Unavailable(Reason.STORE_UNAVAILABLE, "the database did not answer: retry") from error
        return rows
