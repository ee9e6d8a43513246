"""`baohuang set-aside`: what scoring and rating could not apply, why, and since when; and what stopped them."""

from typing import Any, Final

from baohuang.database.beside import snapshot
from baohuang.eventlog.chain import instant
from command_line.audit.asking import PostgresDsn, answered
from command_line.audit.queries import SET_ASIDE, rule
from command_line.saying import say

_WAYS_OUT: Final = {
    ("scoring", "waits"): "later postings are not published; `baohuang redrive` tries again, `baohuang skip scoring"
    " {number} --reason ...` leaves it empty",
    ("scoring", "passed"): "later ones were applied; report it: nothing is passed over without a number by itself",
    (
        "rating",
        "waits",
    ): "later postings wait behind it, and it is tried again by itself; `baohuang skip rating {number}"
    " --reason ...` passes it over",
    ("scoring", "stopped"): "nothing is scored; see `baohuang rebuild scoring`, then `baohuang clear-alarm scoring`",
    ("rating", "stopped"): "nothing is rated; see `baohuang rebuild rating`, then `baohuang clear-alarm rating`",
}
"""What it means, and what an operator can do, by who it happened to and how."""
_HOW: Final = {"waits": "waits at posting {number}", "passed": "passed message {number} over", "stopped": "is stopped"}


def set_aside(*, postgres_dsn: PostgresDsn) -> None:
    """List what scoring and rating could not apply: what it is, why, since when, and what can be done.

    Exits with 0 if there is nothing, 1 if there is something, 2 if that cannot be told.
    """
    answered(_set_aside(postgres_dsn))


async def _set_aside(dsn: str) -> int:
    async with snapshot(dsn) as connection:
        rows: list[Any] = await connection.fetch(rule(SET_ASIDE))
    for row in rows:
        number = row["number"]
        say(f"{row['who']} {_HOW[row['how']].format(number=number)}: {row['what']}")
        say(f"    since {instant(row['since'])}, tried {row['tries']}x: {row['error']}")
        say(f"    {_WAYS_OUT[row['who'], row['how']].format(number=number)}")
    if not rows:
        say("nothing is set aside")
    return len(rows)
