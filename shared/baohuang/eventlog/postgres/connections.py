"""Connections to the log's database: who they are, and what their failures mean."""

from typing import Final

import asyncpg

from baohuang.database import pool
from baohuang.database.pool import FAILURES, Connection, Identity, Limits, Pool
from baohuang.eventlog.port import EventLogError, LogBusy, OutcomeUnknown, Unstorable
from baohuang.eventlog.postgres.schema import HISTORY

__all__ = ["FAILURES", "Connection", "Limits", "Pool", "meaning", "open_pool", "open_reading_pool", "open_writer"]

_READING: Final = Identity("baohuang event log", "baohuang_app")
_ONLY_READING: Final = Identity("baohuang event log", HISTORY, settings={"default_transaction_read_only": "on"})
_WRITING: Final = Identity(
    # Plans are made from the first flush of perhaps an empty log, and have to serve a full one: over the indexes.
    "baohuang event log",
    "baohuang_app",
    settings={"plan_cache_mode": "force_generic_plan", "enable_seqscan": "off"},
)


async def open_pool(dsn: str, size: int, limits: Limits) -> "Pool":
    """Open a pool of up to `size` connections that act as the role `baohuang_app` and commit durably.

    Raises OSError or asyncpg.PostgresError if the first one cannot be made.
    """
    return await pool.open_pool(dsn, size, limits, _READING)


async def open_reading_pool(dsn: str, size: int, limits: Limits) -> "Pool":
    """Open a pool of up to `size` connections that act as the role `baohuang_history`, which only reads.

    Raises OSError or asyncpg.PostgresError if the first one cannot be made.
    """
    return await pool.open_pool(dsn, size, limits, _ONLY_READING)


async def open_writer(dsn: str, limits: Limits) -> "Pool":
    """Open the one connection for appends, planned for a full log, whose statements nobody cancels."""
    return await pool.open_patient_pool(dsn, 1, limits, _WRITING)


def meaning(error: Exception) -> EventLogError:
    """Say what a failed statement means for the command it carried."""
    match error:
        case ValueError() | asyncpg.DataError() | asyncpg.ProgramLimitExceededError():
            return Unstorable(str(error))
        case asyncpg.PostgresConnectionError() | asyncpg.AdminShutdownError() | asyncpg.CrashShutdownError():
            return OutcomeUnknown(str(error))
        case asyncpg.PostgresError():
            # The server said no, and an error rolls back.
            return LogBusy(str(error))
        case _:
            return OutcomeUnknown(f"{type(error).__name__}: {error}")
