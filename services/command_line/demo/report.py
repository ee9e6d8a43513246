"""What is printed once the hand is over: the settlement by seat, the history of the table, what was checked."""

from collections.abc import Sequence
from typing import Final

from rich import box
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from baohuang.eventlog.chain import instant
from baohuang.rules.events import HandFinished
from baohuang.rules.settlement import Solo
from baohuang.rules.state import ALL_SEATS, Table
from command_line.demo.checking import Recorded, finish_of
from command_line.demo.stage import Seen
from command_line.demo.telling import tell
from command_line.demo.words import PLACES, player_at, role_mark

_TIME: Final = slice(11, 23)
_HASH_DIGITS: Final = 8
_WIDTHS: Final = (12, _HASH_DIGITS, 16, 5)
"""Of the columns time, hash, type and who."""
_SOLOS: Final = {Solo.OPEN: "open solo 明独", Solo.HIDDEN: "hidden solo 暗独"}


def print_settlement(console: Console, history: Sequence[Recorded]) -> None:
    """Print who was what, in which place, for how many points, and what doubled them."""
    finished = finish_of(history)
    table = next(one.table for one in history if one.event is finished)
    grid = Grid(title="settlement 结算", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("seat", "player", "role", "place"):
        grid.add_column(heading)
    grid.add_column("points", justify="right")
    for seat in ALL_SEATS:
        points = f"{finished.points[seat]:+d}" if finished.points[seat] else "0"
        row = (str(seat), player_at(table, seat), role_mark(table.hand, seat), _place(finished, seat), points)
        grid.add_row(*row, style="bold" if finished.points[seat] > 0 else "")
    console.print()
    console.print(grid)
    for line in how_scored(table, finished):
        console.print(Text(line), soft_wrap=True)


def print_history(console: Console, history: Sequence[Recorded]) -> None:
    """Print the table's events as the log has them, one a line, all that was hidden now open."""
    console.print()
    console.print(Text("history 牌局记录", style="italic"))
    console.print(Text(_line("ver", "what", ("time (UTC)", "hash", "type", "who")), style="bold"), soft_wrap=True)
    for one in history:
        stored = one.stored
        time = instant(stored.recorded_at)[_TIME]
        what = tell(one.event, one.table)
        line = _line(str(stored.version), what, (time, stored.hash.hex()[:_HASH_DIGITS], stored.type, stored.actor))
        console.print(Text(line), no_wrap=True, overflow="ellipsis")


def print_checks(console: Console, history: Sequence[Recorded], seen: Seen) -> None:
    """Print what was checked; to be called once it was."""
    first, last = seen.first_version, history[-1].stored.version
    digits = history[-1].stored.hash.hex()[:_HASH_DIGITS]
    console.print()
    for line in (
        f"chain, by a spectator: versions {first + 1} to {last} recomputed from public data",
        f"chain, by the log: versions 1 to {last} recomputed from PostgreSQL, head {digits}…",
        f"deal, FAIR-1: seed matches commitment, cards recomputed; deals: {len(finish_of(history).seeds)}",
        "state: spectator and players ended with the fold of the log, as each may see it",
    ):
        console.print(Text.assemble(("✓ ", "green"), line), soft_wrap=True)


def _line(version: str, what: str, columns: Sequence[str]) -> str:
    cells = "  ".join(_at_least(width, text) for text, width in zip(columns, _WIDTHS, strict=True))
    return f"{version:>4}  {cells}  {what}"


def _at_least(width: int, text: str) -> str:
    return set_cell_size(text, max(width, cell_len(text)))


def _place(finished: HandFinished, seat: int) -> str:
    if seat not in finished.places:
        return "–"
    place = finished.places.index(seat)
    return f"{place + 1} {PLACES[place]}"


def how_scored(table: Table, finished: HandFinished) -> Sequence[str]:
    """Return what was played and what doubled the points, in lines."""
    kind = "surrendered (DECL-5)" if finished.surrendered else _SOLOS[finished.solo] if finished.solo else ""
    played = kind and finished.emperor is not None and f"{player_at(table, finished.emperor)} played {kind}"
    lines = [played] if played else []
    if finished.void:
        return [*lines, "void: not scored"]
    doubled = "; ".join(f"×2 {clause}" for clause in finished.doublings) or "nothing"
    return [*lines, f"doubled by: {doubled}"]
