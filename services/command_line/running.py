"""What the data folder of a running `baohuang up` tells a command: the key it signs with, and where its tables are.

Raised is what typer tells of the option `--data`.
"""

from pathlib import Path

import typer

from command_line.backend import table_address
from command_line.development_key import DevelopmentKey, DevelopmentKeyError


def key_of(data: Path) -> DevelopmentKey:
    """Return the folder's key. Raises typer.BadParameter."""
    try:
        return DevelopmentKey.of(data)
    except (DevelopmentKeyError, OSError) as error:
        raise typer.BadParameter(str(error), param_hint="--data") from None


def address_of(data: Path) -> str:
    """Return the address of the folder's table service. Raises typer.BadParameter."""
    try:
        return table_address(data)
    except (ValueError, OSError) as error:
        raise typer.BadParameter(f"no table service was started there: {error}", param_hint="--data") from None
