"""What the demo draws: the same hand on a terminal and in a pipe."""

from io import StringIO

import pytest
from rich.console import Console

from baohuang.client import Moment
from baohuang.rules.rulesets import RULESETS
from client.in_process import running
from command_line.demo.board import board
from command_line.demo.checking import recorded
from command_line.demo.report import print_history
from command_line.demo.screens import LineScreen, LiveScreen, screen_for
from command_line.demo.stage import PLAYERS, play_one_hand
from table_service.seeds import DevelopmentSeeds


@pytest.mark.parametrize("ruleset", ["homy-qingdao", "ourgame-simple"])
async def test_a_hand_on_a_terminal_in_a_pipe_and_in_the_history(ruleset: str) -> None:
    """A terminal ends with the last board, a pipe gets a line an event, the history has all the log has."""
    terminal = Console(file=StringIO(), force_terminal=True, width=100, height=40)
    pipe = Console(file=StringIO(), width=200, highlight=False)
    assert isinstance(screen_for(terminal), LiveScreen)
    assert isinstance(screen_for(pipe), LineScreen)
    shown: list[Moment] = []
    async with running(seeds=DevelopmentSeeds(2)) as service:
        with screen_for(terminal) as drawn, screen_for(pipe) as lines:

            def show(moment: Moment) -> None:
                shown.append(moment)
                drawn.show(moment)
                lines.show(moment)

            async with service.client() as host:
                table_id = (await host.open_table(ruleset)).table_id
            seen = await play_one_hand(service.address, table_id, PLAYERS, 0.0, show)
        history = await recorded(service.log, seen.table_id)
    told = _text(pipe).splitlines()
    assert len(told) == len(shown) - 1 == len(history) - shown[0].version
    assert all(player in _text(terminal) for player in PLAYERS)
    assert "头客" in _text(terminal)
    print_history(pipe, history)
    after = _text(pipe).splitlines()[len(told) :]
    assert [line.split()[0] for line in after[-len(history) :]] == [str(one.stored.version) for one in history]


@pytest.mark.parametrize("ruleset", RULESETS)
async def test_a_board_is_as_high_at_any_time(ruleset: str) -> None:
    """The board does not jump: from the empty table to the last play it has one height."""
    heights = set()
    shown: list[Moment] = []
    async with running(seeds=DevelopmentSeeds(4)) as service:
        async with service.client() as host:
            table_id = (await host.open_table(ruleset)).table_id
        await play_one_hand(service.address, table_id, PLAYERS, 0.0, shown.append)
    for moment in shown[:: len(shown) // 20]:
        page = Console(file=StringIO(), width=100)
        page.print(board(moment.table, ("a line",), ("",) * 5))
        heights.add(len(_text(page).splitlines()))
    assert len(heights) == 1


def _text(console: Console) -> str:
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()
