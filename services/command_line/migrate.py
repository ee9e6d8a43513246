"""`baohuang migrate`: a database of yours, brought to this release's version before its services are started."""

from typing import Annotated

import typer

from command_line.backend import MigrationError
from command_line.dsn import sound_dsn
from command_line.migrating import migrate_all
from command_line.saying import complain, say
from command_line.services import BESIDE_TABLES


def migrate(
    *,
    postgres_dsn: Annotated[
        str,
        typer.Option(
            envvar="BAOHUANG_POSTGRES_DSN",
            callback=sound_dsn,
            help="the database, as the role that owns it and may make roles (CREATEROLE)",
        ),
    ],
) -> None:
    """Bring every schema of the database to this release's version, whatever each is at now; services may run on."""
    try:
        migrate_all(postgres_dsn, BESIDE_TABLES)
    except MigrationError as error:
        complain(f"migrate: {error}")
        raise typer.Exit(1) from None
    say("the database is up to date")
