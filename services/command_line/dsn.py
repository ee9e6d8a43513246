"""The option that says where the database is, looked at before anything is asked of it."""

import typer

from baohuang.database.address import check_dsn


def sound_dsn(dsn: str | None) -> str | None:
    """Return the DSN of an option, if there is one, without white space around it.

    Raises typer.BadParameter, which repeats nothing of it.
    """
    bare = dsn and dsn.strip()
    try:
        if bare:
            check_dsn(bare)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    return bare
