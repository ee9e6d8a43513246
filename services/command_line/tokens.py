"""`baohuang token`: a token for a player of the backend on this machine, on standard output."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from baohuang.rpc.auth import Caller, Role, caller_id
from baohuang.rules.bots import is_bot
from baohuang.rules.state import PlayerId
from command_line.development_key import DEFAULT_DATA_DIR, DevelopmentKey, DevelopmentKeyError
from command_line.saying import say

_SECONDS_AN_HOUR = 3600.0
_MOST_HOURS = 366 * 24


def token(
    *,
    player: Annotated[str, typer.Option(help="who the token is of, such as alice")],
    role: Annotated[Role, typer.Option(help="what he may do")] = Role.PLAYER,
    hours: Annotated[float, typer.Option(min=0.001, max=_MOST_HOURS, help="how long it lasts")] = 12.0,
    data: Annotated[Path, typer.Option(help="the data folder of `baohuang up`")] = DEFAULT_DATA_DIR,
) -> None:
    """Print a token for a backend that `baohuang up` runs, or ran, on a data folder."""
    known = caller_id(player)
    if known is None:
        raise typer.BadParameter("1 to 64 of A-Z a-z 0-9 . _ @ : -, the first a letter or digit", param_hint="--player")
    if is_bot(PlayerId(known)):
        raise typer.BadParameter("the bots of `baohuang up` have such names, and nobody else", param_hint="--player")
    try:
        key = DevelopmentKey.of(data)
    except (DevelopmentKeyError, OSError) as error:
        Console(stderr=True).print(Text(str(error), style="red"), soft_wrap=True)
        raise typer.Exit(1) from None
    say(key.token(Caller(known, role), hours * _SECONDS_AN_HOUR))
