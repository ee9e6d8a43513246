"""`baohuang redrive` and `baohuang skip`: what becomes of events that could not be scored, and postings not applied."""

from typing import Annotated

import typer

from baohuang.rpc.plain_text import is_plain
from baohuang.scoring.events import PostingNumber
from baohuang.stream.checkpoint import lock
from baohuang.stream.port import Number
from command_line.audit.asking import PostgresDsn, answered
from command_line.audit.rebuild import Rebuilt
from command_line.saying import say
from rating_service.boards import CONSUMER
from rating_service.wiring import open_ratings
from scoring_service import redriving
from scoring_service.redriving import NotWaiting
from scoring_service.settling import Unscorable
from scoring_service.wiring import open_ledger


def redrive(*, postgres_dsn: PostgresDsn) -> None:
    """Try again to score the events that could not be scored, in the order of the log.

    Exits with 1 if some still cannot be, and tells why, 2 if that cannot be told.
    """
    answered(_redrive(postgres_dsn))


def skip(
    what: Annotated[Rebuilt, typer.Argument(help="who waits: scoring for an event, or rating for a posting")],
    posting: Annotated[int, typer.Argument(min=1, help="the number of the posting, as `baohuang reconcile` tells it")],
    *,
    reason: Annotated[str, typer.Option(min=1, help="why, for ever in the ledger")],
    postgres_dsn: PostgresDsn,
) -> None:
    """Have scoring leave a posting empty, or rating pass one over, so that later ones go on. It cannot be undone."""
    if not is_plain(reason):
        raise typer.BadParameter("must be one line without control characters", param_hint="--reason")
    match what:
        case Rebuilt.SCORING:
            answered(_skip_event(postgres_dsn, PostingNumber(posting), reason))
        case Rebuilt.RATING:
            answered(_skip_posting(postgres_dsn, Number(posting)))


async def _redrive(dsn: str) -> int:
    async with (
        await open_ledger(dsn) as pool,
        pool.acquire() as connection,
        connection.transaction(),
    ):
        tried = await redriving.redrive(connection)
    for one in tried:
        say(f"posting {one.number}, position {one.position}: {one.error or 'scored'}")
    if not tried:
        say("nothing waits to be scored")
    return sum(one.error is not None for one in tried)


async def _skip_event(dsn: str, number: PostingNumber, reason: str) -> int:
    try:
        async with (
            await open_ledger(dsn) as pool,
            pool.acquire() as connection,
            connection.transaction(),
        ):
            skipped = await redriving.skip(connection, number, reason)
    except (NotWaiting, Unscorable) as error:
        say(error)
        return 1
    say(f"posting {number} stays empty: {skipped.table_id} version {skipped.version}")
    return 0


async def _skip_posting(dsn: str, number: Number) -> int:
    async with (
        await open_ratings(dsn) as pool,
        pool.acquire() as connection,
        connection.transaction(),
    ):
        settled = await (await lock(connection, CONSUMER)).settle([number], "skipped")
    say(f"posting {number} is passed over" if settled else f"ratings do not wait at posting {number}")
    return 0 if settled else 1
