"""When scores and ratings have caught up with the log, and whether all that there is agrees."""

from typing import Final

import asyncpg

from eventually import eventually
from scoring.test_audit import run

SETTLED_SECONDS: Final = 120.0
"""Within which they have on a busy machine."""
_REACHED: Final = """
    with settling as (
        select count(*) as events from eventlog.events
        where type in ('HandFinished', 'PlayerFined', 'FineReversed', 'VoidReversed')
    )
    select (select last_number from scoring.progress) = events
       and exists (select from rating.checkpoints where number = events)
    from settling
"""


async def all_settled(dsn: str, within: float = SETTLED_SECONDS) -> None:
    """Wait until the ledger has every hand and ruling of the log, and the ratings have all of the ledger."""
    admin = await asyncpg.connect(dsn)
    try:

        async def reached() -> bool:
            return bool(await admin.fetchval(_REACHED))

        await eventually(reached, within)
    finally:
        await admin.close()


async def check_against_recomputation(dsn: str) -> None:
    """Check that the ledger and the ratings are what the log gives, anew; that nothing was set aside.

    And that the log is what was played: each command is decided, and each deal made, again.
    """
    for command in (("reconcile",), ("rebuild", "scoring"), ("rebuild", "rating")):
        done = await run(dsn, *command)
        assert (done.exit_code, "no difference" in done.stdout) == (0, True), done.output
    for command in (("set-aside",), ("verify",)):
        done = await run(dsn, *command)
        assert done.exit_code == 0, done.output


async def check_all(dsn: str) -> None:
    """Wait until all has settled, and check it against recomputation."""
    await all_settled(dsn)
    await check_against_recomputation(dsn)
