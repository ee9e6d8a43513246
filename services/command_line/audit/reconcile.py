"""`baohuang reconcile`: whether log, ledger and ratings agree."""

from typing import Any

from baohuang.database.beside import snapshot
from command_line.audit.asking import PostgresDsn, answered
from command_line.audit.queries import REACHED, RULES, rule
from command_line.saying import say

_TOLD = 20
"""Breaches told of each rule; more are counted as "and more"."""


def reconcile(*, postgres_dsn: PostgresDsn) -> None:
    """Tell every difference between the log, the ledger and the ratings, or that there is none.

    Reads one snapshot while the services go on. Exits with 1 if there is a difference, 2 if that cannot be told.
    """
    answered(_reconcile(postgres_dsn))


async def _reconcile(dsn: str) -> int:
    differences = 0
    async with snapshot(dsn) as connection:
        for name in RULES:
            text = rule(name)
            findings: list[Any] = await connection.fetch(text, _TOLD + 1)
            if findings:
                say(f"✗ {_holds(text)}")
            for row in findings[:_TOLD]:
                say(f"    {row['finding']}")
            if len(findings) > _TOLD:
                say("    and more")
            differences += len(findings)
        reached: Any = await connection.fetchrow(rule(REACHED))
    if reached is None:
        say("✗ the table scoring.progress has no row: the database was not restored whole, or the row was removed")
        return differences + 1
    if not differences:
        say(f"✓ no difference: {len(RULES)} rules hold between log, ledger and ratings")
    say(
        f"ledger: {reached['number']} postings, up to position {reached['position']} of the log; "
        f"ratings: up to posting {reached['rated']}"
    )
    return differences


def _holds(text: str) -> str:
    return text.partition("\n")[0].removeprefix("-- ")
