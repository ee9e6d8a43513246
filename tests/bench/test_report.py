"""The table of `make bench`: its numbers are read whole, wherever it is shown."""

import pytest

from .report import show
from .row import Row

NAME = "play.stream.100.and_then_a_long_name"
ROWS = (
    Row(NAME, 1234567.0, "plays/s", 2345678.0, "the same calls of the bare skeleton, over streams of its own"),
    Row("memory.watcher", 28123.0, "bytes"),
)
NUMBERS = ("1,234,567", "2,345,678", "0.53", "28,123")


def shown(capsys: pytest.CaptureFixture[str]) -> str:
    show(ROWS)
    return capsys.readouterr().out


def test_a_terminal_of_80_columns_folds_words_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And has no line that is longer."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    found = shown(capsys)
    assert NAME not in found
    assert [one for one in NUMBERS if one not in found] == []


def test_into_a_pipe_a_row_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Name and numbers on one line, for whoever looks for them with grep."""
    (line,) = [one for one in shown(capsys).splitlines() if NAME in one]
    assert [one for one in NUMBERS[:3] if one not in line] == []
