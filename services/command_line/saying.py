"""How commands print lines: what a log or a service told may hold anything, and a terminal would obey it."""

import sys

from rich.text import Text

from baohuang.rpc.plain_text import plain


def say(line: object) -> None:
    """Print one line to standard output, at once, with what a terminal would obey written out."""
    print(plain(str(line)), flush=True)


def complain(line: object) -> None:
    """Print one line to standard error, in the same way."""
    print(plain(str(line)), file=sys.stderr, flush=True)


def shown(line: str, style: str = "") -> Text:
    """Return one line for a rich console, in the same way; nothing in it is markup."""
    return Text(plain(line), style=style)
