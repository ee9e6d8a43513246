"""What is printed once the hand is over: the history of the table, how it was scored, what was checked."""

from collections.abc import Sequence
from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from baohuang.client import CheckedGame
from baohuang.eventlog.chain import instant
from baohuang.rules.events import HandFinished
from baohuang.rules.settlement import Solo
from baohuang.rules.state import Table
from command_line.demo.checking import Recorded, finish_of
from command_line.demo.headings import print_heading
from command_line.demo.stage import Seen
from command_line.demo.telling import tell
from command_line.demo.words import player_at

_TIME: Final = slice(11, 23)
_HASH_DIGITS: Final = 8
_WIDTHS: Final = (12, _HASH_DIGITS, 16, 8)
"""Of the columns time, hash, type and who."""
_SOLOS: Final = {Solo.OPEN: "open solo 明独", Solo.HIDDEN: "hidden solo 暗独"}


def print_history(console: Console, history: Sequence[Recorded]) -> None:
    """Print the table's events as the log has them, one a line, all that was hidden now open."""
    print_heading(console, "history 牌局记录", "the log in PostgreSQL, all that was hidden now open")
    console.print(Text(_line("ver", "what", ("time (UTC)", "hash", "type", "who")), style="bold"), soft_wrap=True)
    for one in history:
        stored = one.stored
        time = instant(stored.recorded_at)[_TIME]
        what = tell(one.event, one.table)
        line = _line(str(stored.version), what, (time, stored.hash.hex()[:_HASH_DIGITS], stored.type, stored.actor))
        console.print(Text(line), no_wrap=True, overflow="ellipsis")


def print_checks(console: Console, history: Sequence[Recorded], seen: Seen, checked: CheckedGame) -> None:
    """Print what was checked; to be called once it was."""
    first, last = seen.first_version, history[-1].stored.version
    digits = history[-1].stored.hash.hex()[:_HASH_DIGITS]
    decided, hands = checked.decided_until, checked.hands
    print_heading(console, "checked 查验")
    for line in (
        f"chain, by a spectator: versions {first + 1} to {last} recomputed from public data",
        f"game, by a client: versions 1 to {decided} decided again, what was hidden opened; hands dealt again: {hands}",
        f"chain, by the log: versions 1 to {last} recomputed from PostgreSQL, head {digits}…",
        f"deal, FAIR-1: seed matches commitment, cards recomputed; deals: {len(finish_of(history).seeds)}",
        "state: spectator and players ended with the fold of the log, as each may see it",
        "points: the ledger has the log's; all accounts, the house's too, sum to 0",
        "ratings: recomputed from the score, equal to the last bit",
    ):
        console.print(Text.assemble(("✓ ", "green"), line), soft_wrap=True)


def _line(version: str, what: str, columns: Sequence[str]) -> str:
    cells = "  ".join(_cut(width, text) for text, width in zip(columns, _WIDTHS, strict=True))
    return f"{version:>4}  {cells}  {what}"


def _cut(width: int, text: str) -> str:
    return set_cell_size(text, width) if cell_len(text) <= width else f"{set_cell_size(text, width - 1)}…"


def how_scored(table: Table, finished: HandFinished) -> Sequence[str]:
    """Return what was played and what doubled the points, in lines."""
    kind = "surrendered (DECL-5)" if finished.surrendered else _SOLOS[finished.solo] if finished.solo else ""
    played = kind and finished.emperor is not None and f"{player_at(table, finished.emperor)} played {kind}"
    lines = [played] if played else []
    if finished.void:
        return [*lines, "void: not scored"]
    doubled = "; ".join(f"×2 {clause}" for clause in finished.doublings) or "nothing"
    return [*lines, f"doubled by: {doubled}"]
