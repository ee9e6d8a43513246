"""`baohuang clear-alarm`: have scoring or rating go on that stopped at a message which was not the one it knew."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Annotated, Final

import typer

from baohuang.stream.checkpoint import Checkpoint, lock
from baohuang.stream.clearing import NotCleared, Read, clear_alarm
from baohuang.stream.port import Message, Number
from baohuang.stream.public_log import settling_between
from command_line.audit.asking import PostgresDsn, answered
from command_line.audit.rebuild import Rebuilt
from command_line.saying import say
from rating_service.boards import CONSUMER
from rating_service.wiring import open_ratings
from scoring_service.ledger_source import LedgerSource
from scoring_service.wiring import SUBSCRIPTION, open_ledger

_BATCH: Final = 500
_Held = AbstractAsyncContextManager[tuple[Checkpoint, Read]]


def clear_alarm_of(
    what: Annotated[Rebuilt, typer.Argument(help="who is stopped")], *, postgres_dsn: PostgresDsn
) -> None:
    """Have scoring, or rating, go on after an alarm, if what it went past is what its source has.

    Exits with 1, and says why, if it is not, or if there is no alarm; 2 if that cannot be told.
    """
    match what:
        case Rebuilt.SCORING:
            answered(_clear(_scoring(postgres_dsn)))
        case Rebuilt.RATING:
            answered(_clear(_rating(postgres_dsn)))


async def _clear(held: _Held) -> int:
    try:
        async with held as (checkpoint, read):
            told = await clear_alarm(checkpoint, read)
    except NotCleared as error:
        say(error)
        return 1
    say(f"{checkpoint.consumer} goes on after message {checkpoint.number}; the alarm was: {told}")
    return 0


@asynccontextmanager
async def _scoring(dsn: str) -> AsyncIterator[tuple[Checkpoint, Read]]:
    """Hold scoring's checkpoint, and give it with the log."""
    async with await open_ledger(dsn) as pool, pool.acquire() as connection, connection.transaction():

        async def read(after: Number, through: Number) -> Sequence[Message]:
            return await settling_between(connection, after, through, _BATCH)

        yield await lock(connection, SUBSCRIPTION.consumer), read


@asynccontextmanager
async def _rating(dsn: str) -> AsyncIterator[tuple[Checkpoint, Read]]:
    """Hold rating's checkpoint, and give it with the ledger."""
    async with (
        await open_ledger(dsn) as ledger,
        await open_ratings(dsn) as pool,
        pool.acquire() as connection,
        connection.transaction(),
    ):
        source = LedgerSource(ledger)

        async def read(after: Number, through: Number) -> Sequence[Message]:
            return await source.read(after, min(_BATCH, through - after))

        yield await lock(connection, CONSUMER), read
