"""What the commands of this folder have in common: the database they look at, and how they end.

Exit code 0: all is as it should be. 1: it is not, and what is not was told. 2: it cannot be told.
"""

import asyncio
from collections.abc import Awaitable
from typing import Annotated, Final, NoReturn

import asyncpg
import typer
from alembic.util import CommandError
from sqlalchemy.exc import DBAPIError

from baohuang.database.beside import BesideInUse
from baohuang.eventlog.port import LogUnavailable
from command_line.dsn import sound_dsn
from command_line.saying import complain

DIFFERENT: Final = 1
UNKNOWN: Final = 2

PostgresDsn = Annotated[
    str,
    typer.Option(
        "--postgres-dsn",
        envvar="BAOHUANG_POSTGRES_DSN",
        callback=sound_dsn,
        help="the backend's database, as `baohuang up` prints it",
    ),
]


def answered(asking: Awaitable[int]) -> None:
    """Ask, and exit with the number of what is not as it should be turned into an exit code."""

    async def ask() -> int:
        return await asking

    try:
        found = asyncio.run(ask())
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, DBAPIError, CommandError) as error:
        cannot_tell(error)
    except (BesideInUse, LogUnavailable) as error:
        cannot_tell(error)
    if found:
        raise typer.Exit(DIFFERENT)


def cannot_tell(error: Exception | str) -> NoReturn:
    """Say why it cannot be told, and exit so."""
    complain(f"cannot tell: {error}")
    raise typer.Exit(UNKNOWN) from None
