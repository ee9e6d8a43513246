"""`baohuang play` over a pipe, as a process, against a real backend of its own."""

import re
from pathlib import Path

import pytest

from play.player_process import Player, first_choice, player
from up.running import processes


def _nothing_left(folder: Path) -> bool:
    return not list(folder.iterdir()) and not processes(folder)


def _refusal(shown: list[str]) -> str:
    """Return the one refusal; what others did may stand around it."""
    (refused,) = (line for line in shown if line.startswith("✗"))
    return refused


async def _play_to_the_end(me: Player) -> None:
    """Answer every question with what the help lists, until the hand is over."""
    shown = await me.until(" >")
    while not shown[-1].startswith("another hand?"):
        helped = await me.answer("h")
        if helped[-1].startswith("another hand?"):
            return
        assert "h help" in "\n".join(helped)
        shown = await me.answer(first_choice(helped))
        assert not any(line.startswith("✗") for line in shown), shown


@pytest.mark.parametrize("ruleset", ["homy-qingdao"])
async def test_two_hands_are_played_by_what_the_help_says(ruleset: str, tmp_path: Path) -> None:
    """What the help lists is legal, in every phase; settlement and points follow; another hand, then the end."""
    async with player(tmp_path, "--seed", "3", "--ruleset", ruleset) as me:
        for again in ("y", "n"):
            await _play_to_the_end(me)
            lines = me.printed
            at = max(at for at, line in enumerate(lines) if line.startswith("settlement"))
            points = [int(line.split()[-1]) for line in lines[at + 1 : at + 6]]
            assert sum(points) == 0
            mine = re.fullmatch(r"your points: ([+-]\d+)", lines[-2])
            assert mine
            assert int(mine[1]) == int(next(line for line in lines[at + 1 : at + 6] if " me " in line).split()[-1])
            await me.type(again)
        code, _, complaint = await me.end()
    assert (code, complaint) == (0, "")
    assert not any("\x1b" in line for line in me.printed)
    assert any("hand 2 starts" in line for line in me.printed)
    assert _nothing_left(tmp_path)


async def test_wrong_inputs_are_named_and_asked_again(tmp_path: Path) -> None:
    """Nonsense, cards not held, no set, a set too low: each is told with its clause, and the question stands."""
    async with player(tmp_path, "--seed", "7") as me:
        asked = (await me.until(" >"))[-1]
        assert asked.startswith("declare something")
        shown = await me.answer("abc")
        assert _refusal(shown) == "✗ 'abc' is no answer here: g, o, r, u, n, h for help"
        assert shown[-1].startswith("declare something")
        assert _refusal(await me.answer("o")).endswith("(DECL-2)")
        assert "beat" in (await me.answer("n"))[-1]
        for typed, told in (
            ("3x", "✗ '3x' is no card"),
            ("9s9", "✗ '9s9' may mean"),
            ("2222", "✗ you hold 3 of 2, not 4 (SET-1)"),
            ("8 9", "✗ a set is plain cards of one rank, jokers, or both (SET-1)"),
            ("33", "✗ 3 3 does not beat"),
        ):
            shown = await me.answer(typed)
            assert _refusal(shown).startswith(told)
            assert shown[-1].startswith("beat")
        assert _refusal(shown).endswith("(BEAT-1)")
        assert (await me.answer(""))[-1].startswith("beat")


async def test_leaving_asks_first_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """`q` and no goes on, `q` and yes leaves the table (FINE-1); processes and folder are gone at the end."""
    async with player(tmp_path, "--seed", "7") as me:
        await me.until(" >")
        assert (await me.answer("q"))[-1].startswith("leave the table")
        assert (await me.answer("what"))[-1].startswith("leave the table")
        assert (await me.answer("n"))[-1].startswith("declare something")
        await me.answer("q")
        await me.type("y")
        await me.until("you have left the table")
        code, _, complaint = await me.end()
    assert (code, complaint) == (0, "")
    assert _nothing_left(tmp_path)


async def test_the_trustee_comes_when_time_is_up_and_goes_when_told(tmp_path: Path) -> None:
    """Who says nothing is told that the trustee plays and how to take the seat back; `t` does it (TRUST-1, TRUST-3)."""
    async with player(tmp_path, "--seed", "7", "--turn-seconds", "5", "--pace", "1") as me:
        await me.until(" >")
        told = await me.until("type t to take the seat back")
        assert told[-1] == "the trustee plays for you 托管 (TRUST-1): type t to take the seat back"
        await me.type("t")
        assert "takes the seat back" in (await me.until("takes the seat back"))[-1]
        await me.type("t")
        await me.until("type t to take the seat back")


async def test_another_service_is_played_at(tmp_path: Path) -> None:
    """With an address the table is on that service, and the bots have names that nobody else has (FINE-6)."""
    async with player(tmp_path / "one", "--seed", "7") as host:
        (tmp_path / "one").mkdir(exist_ok=True)
        await host.until(" >")
        (port,) = (tmp_path / "one").glob("*/table/port")
        address = f"127.0.0.1:{port.read_text().strip()}"
        async with player(tmp_path, "--address", address, "--name", "guest") as guest:
            shown = await guest.until(" >")
            assert any(re.search(r"hand 1 starts: guest, Lin\w{4}, ", line) for line in shown)
        async with player(tmp_path, "--address", address, "--token", "not.a.token") as stranger:
            code, _, complaint = await stranger.end()
            assert code == 1
            assert complaint.startswith("play: FAILED ")
