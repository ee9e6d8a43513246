"""`baohuang rebuild`: ledger or ratings computed anew from the log, and compared with those in use."""

from collections.abc import AsyncIterator
from enum import StrEnum
from typing import Annotated

import typer

from baohuang.database.comparing import Difference
from command_line.audit.asking import PostgresDsn, answered
from command_line.saying import say
from rating_service.rebuilding import rebuilt_ratings
from scoring_service.ledger_source import LedgerSource
from scoring_service.rebuilding import rebuilt_ledger

_TOLD = 100


class Rebuilt(StrEnum):
    """What can be computed anew."""

    SCORING = "scoring"
    RATING = "rating"


def rebuild(
    what: Annotated[Rebuilt, typer.Argument(help="what to compute anew")], *, postgres_dsn: PostgresDsn
) -> None:
    """Compute the ledger, or the ratings, anew from the log's public view, and compare with those in use.

    Those in use are only read, and go on meanwhile. Exits with 1 if there is a difference, 2 if that cannot be told.
    """
    match what:
        case Rebuilt.SCORING:
            answered(_ledger(postgres_dsn))
        case Rebuilt.RATING:
            answered(_ratings(postgres_dsn))


async def _ledger(dsn: str) -> int:
    async with rebuilt_ledger(dsn) as ledger:
        told = await _tell(ledger.differences())
        say(f"ledger: {ledger.progress.number} events scored anew, {_verdict(told)}")
    return told


async def _ratings(dsn: str) -> int:
    async with rebuilt_ledger(dsn) as ledger, rebuilt_ratings(dsn, LedgerSource(ledger.pool)) as ratings:
        told = await _tell(ratings.differences())
        say(f"ratings: {ratings.reached} postings applied anew, {_verdict(told)}")
        if ratings.reached < ratings.through:
            say(f"the ledger computed anew ends before posting {ratings.through}, which ratings have got to")
            told += 1
    return told


async def _tell(differences: AsyncIterator[Difference]) -> int:
    told = 0
    async for difference in differences:
        told += 1
        if told <= _TOLD:
            say(difference)
    if told > _TOLD:
        say(f"and {told - _TOLD} more")
    return told


def _verdict(told: int) -> str:
    return f"{told} rows differ" if told else "no difference"
