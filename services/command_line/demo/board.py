"""The board of a hand as the public sees it: five seats, the set on the table, the last lines of what happened."""

from collections.abc import Sequence
from typing import Final

from rich import box
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table as Grid
from rich.text import Text

from baohuang.rules.phases.asking import seats_to_act
from baohuang.rules.state import ALL_SEATS, Hand, Phase, Table
from command_line.demo.words import EMPEROR, GUARD, PLACES, UNKNOWN, called, faces, player_at, role_mark

LINES: Final = 7
"""How many of the last lines are shown."""
_WIDTH: Final = 78
_BAR: Final = 22
_FULL: Final = 44
_ROLE_STYLES: Final = {EMPEROR: "bold yellow", GUARD: "bold green", UNKNOWN: "dim"}


def board(table: Table, said: Sequence[str], lasts: Sequence[str]) -> RenderableType:
    """Return the board; `lasts` is the last play of each seat in this trick, `said` the last lines, oldest first."""
    hand = table.hand
    parts: list[RenderableType] = [
        _seats(table, lasts),
        Text(""),
        _on_the_table(table, hand),
        Rule(style="dim"),
        *_story(said),
    ]
    title = Text.assemble((" 保皇 ", "bold yellow"), f"{table.ruleset.title} · {table.ruleset.id} ")
    return Panel(Group(*parts), title=title, border_style="yellow", width=_WIDTH, box=box.ROUNDED)


def _seats(table: Table, lasts: Sequence[str]) -> Grid:
    grid = Grid.grid(padding=(0, 1))
    for width in (1, 2, 6, _BAR):
        grid.add_column(width=width, no_wrap=True)
    grid.add_column(width=2, justify="right")
    grid.add_column(no_wrap=True)
    acting = seats_to_act(table.hand) if table.hand else ()
    for seat in ALL_SEATS:
        turn = Text("▶", style="bold cyan") if seat in acting else Text("")
        role = role_mark(table.hand, seat)
        left = len(table.hand.hands[seat]) if table.hand else 0
        name = Text(player_at(table, seat), style="bold" if seat in acting else "")
        style = _ROLE_STYLES.get(role, "")
        grid.add_row(turn, Text(role, style=style), name, _bar(left), str(left), _last(table, seat, lasts[seat]))
    return grid


def _bar(left: int) -> Text:
    length = -(-left * _BAR // _FULL)
    return Text("━" * min(length, _BAR), style="cyan")


def _last(table: Table, seat: int, last: str) -> Text:
    out = table.hand.out if table.hand else ()
    if seat in out:
        return Text(f"{PLACES[out.index(seat)]} {last}".strip(), style="bold magenta")
    return Text(last, style="dim" if last == "pass" else "bold white")


def _on_the_table(table: Table, hand: Hand | None) -> Text:
    if hand is None or hand.phase is not Phase.PLAY:
        return Text("")
    if hand.trick.player is None:
        return Text(f"  {called(table, hand.turn)} leads" if hand.turn is not None else "", style="dim")
    on_it = (f" {faces(hand.trick.cards)} ", "bold black on white")
    return Text.assemble("  to beat: ", on_it, (f"  by {called(table, hand.trick.player)}", "dim"))


def _story(said: Sequence[str]) -> Sequence[Text]:
    lines = [Text(line, style="dim", no_wrap=True, overflow="ellipsis") for line in said[-LINES:]]
    if lines:
        lines[-1].stylize("not dim")
    return [Text("")] * (LINES - len(lines)) + lines
