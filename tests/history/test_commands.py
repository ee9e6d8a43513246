"""`baohuang history` and `baohuang rulings` as operators run them: what they print, in which form, and how they end."""

import re
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from typer.testing import CliRunner, Result

from baohuang.audit.judgement import decided
from baohuang.eventlog.chain import instant
from baohuang.eventlog.codec import decode
from baohuang.eventlog.port import StoredEvent
from baohuang.history.sought import EventsSought, Order, RulingsSought
from baohuang.rules.state import PlayerId
from command_line.main import app
from history.conftest import Played
from history.filtering import events_in, rulings_in


def run(dsn: str, *arguments: str) -> Result:
    """Run a command on a wide screen."""
    return CliRunner(env={"COLUMNS": "240"}).invoke(app, [*arguments, "--postgres-dsn", dsn])


def told(result: Result) -> Sequence[Any]:
    """Return the objects that were printed."""
    assert result.exit_code == 0, result.output
    return [msgspec.json.decode(line) for line in result.output.splitlines()]


def positions(events: Sequence[StoredEvent]) -> Sequence[int]:
    """Return the positions of events."""
    return [event.position for event in events]


def test_all_events_of_the_log_are_printed(played_log: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each once and in order, page by page, and nothing that is hidden."""
    monkeypatch.setattr("command_line.history.events.PAGE", 997)
    printed = run(played_log.dsn, "history", "--json")
    assert [event["position"] for event in told(printed)] == positions(played_log.events)
    assert "hidden" not in printed.output
    assert "salt" not in printed.output
    assert any(b'"hidden"' in event.data for event in played_log.events)


def test_events_are_printed_that_meet_every_filter(played_log: Played) -> None:
    """By table, type and time, the newest first, so many of them."""
    middle = played_log.events[len(played_log.events) // 2]
    sought = EventsSought(middle.stream_id, types=("ReadinessSet", "CardsPlayed"), until=middle.recorded_at)
    expected = events_in(played_log.events, sought, Order.NEWEST_FIRST)[:7]
    until = instant(middle.recorded_at).removesuffix("Z")
    options = ("--table", middle.stream_id, "--type", "ReadinessSet", "--type", "CardsPlayed", "--until", until)
    printed = told(run(played_log.dsn, "history", *options, "--newest", "--limit", "7", "--json"))
    assert [event["position"] for event in printed] == positions(expected)
    assert [event["hash"] for event in printed] == [event.hash.hex() for event in expected]


def test_events_of_a_player_on_a_screen(played_log: Played) -> None:
    """Each by its position, in their order, however many pages there are."""
    expected = events_in(played_log.events, EventsSought(player=PlayerId("bo-1")), Order.OLDEST_FIRST)
    printed = run(played_log.dsn, "history", "--player", "bo-1")
    assert printed.exit_code == 0
    assert [int(number) for number in re.findall(r"^    #(\d+) ", printed.output, re.MULTILINE)] == positions(expected)


def test_rulings_are_printed_that_meet_every_filter(played_log: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    """By player, kind and clause; with whom they are about and what was decided, in both languages."""
    monkeypatch.setattr("command_line.history.rulings.PAGE", 3)
    everything = rulings_in(played_log.events, RulingsSought())
    one = next(ruling for ruling in everything if ruling.players)
    clause = msgspec.json.decode(one.event.data)["rule"]
    sought = RulingsSought(player=one.players[0], kinds=(one.event.type,), clause=clause)
    options = ("--player", one.players[0], "--type", one.event.type, "--clause", clause)
    printed = told(run(played_log.dsn, "rulings", *options, "--json"))
    assert [ruling["position"] for ruling in printed] == [
        ruling.event.position for ruling in rulings_in(played_log.events, sought)
    ]
    assert {tuple(ruling["players"]) for ruling in printed} == {one.players}
    assert all(ruling["decided"]["english"] and ruling["decided"]["chinese"] for ruling in printed)
    shown = run(played_log.dsn, "rulings", "--language", "zh")
    assert shown.exit_code == 0
    assert len(re.findall(r"^\d{4}-", shown.output, re.MULTILINE)) == len(everything)
    assert "进入托管" in shown.output


@pytest.mark.parametrize("columns", ["20", "80", "240"])
def test_nothing_is_cut_or_broken_on_a_narrow_screen(played_log: Played, columns: str) -> None:
    """Table and version in one piece, to be copied, and what was decided in full, at any width."""
    ruling = rulings_in(played_log.events, RulingsSought())[0]
    screen = CliRunner(env={"COLUMNS": columns})
    shown = screen.invoke(app, ["rulings", "--limit", "1", "--postgres-dsn", played_log.dsn]).output
    told = decided(decode(ruling.event.type, ruling.event.data)).english
    place = f"{ruling.event.stream_id} @ {ruling.event.version}"
    first, second = shown.splitlines()
    assert (first.endswith(f"  {place}"), told in second) == (True, True)
    shown = screen.invoke(app, ["history", "--limit", "3", "--postgres-dsn", played_log.dsn]).output
    for event, line in zip(played_log.events, shown.splitlines()[::2], strict=False):
        assert line == f"{instant(event.recorded_at)}  {event.stream_id} @ {event.version}"


def test_how_they_end_when_they_cannot_answer(played_log: Played) -> None:
    """2 for a type that there is not, which is named, and for a log that is not there; nothing found is an answer."""
    wrong = run(played_log.dsn, "history", "--type", "CardPlayed")
    assert wrong.exit_code == 2
    assert "CardPlayed" in wrong.output
    assert run(played_log.dsn, "rulings", "--type", "CardsPlayed").exit_code == 2
    assert run("postgresql://nobody@127.0.0.1:1/none", "history").exit_code == 2
    assert told(run(played_log.dsn, "history", "--table", "nowhere", "--json")) == []
