"""When scores and ratings have caught up with the log, and whether all that there is agrees."""

import asyncpg

from eventually import eventually
from scoring.test_audit import run

SECONDS = 120.0
_REACHED = """
    with settling as (
        select count(*) as events from eventlog.events
        where type in ('HandFinished', 'PlayerFined', 'FineReversed', 'VoidReversed')
    )
    select (select last_number from scoring.progress) = events
       and exists (select from rating.checkpoints where number = events)
    from settling
"""


async def all_settled(dsn: str) -> None:
    """Wait until the ledger has all of the log, and the ratings have all of the ledger."""
    admin = await asyncpg.connect(dsn)
    try:

        async def reached() -> bool:
            return bool(await admin.fetchval(_REACHED))

        await eventually(reached, SECONDS)
    finally:
        await admin.close()


async def check_all(dsn: str) -> None:
    """Check, by this tree's commands, that the log is what was played and that points and ratings follow from it."""
    await all_settled(dsn)
    for command in (("verify",), ("reconcile",), ("rebuild", "scoring"), ("rebuild", "rating"), ("set-aside",)):
        done = await run(dsn, *command)
        assert done.exit_code == 0, (command, done.output)
