"""`baohuang play` tells what the ledger has of the hand, while it asks whether to play another."""

from pathlib import Path

from command_line.backend import LocalBackend
from command_line.services import SCORING
from command_line.surroundings import BackendOptions
from play.player_process import Player, player
from play.test_going_on import play_to_the_end


async def test_the_points_are_told_once_they_are_booked(tmp_path: Path) -> None:
    """The same points as the settlement's, with the posting's number; the question stands, and another hand follows."""
    options = BackendOptions(tmp_path / "data", dev_seed=7, insecure_dev=True, beside=(SCORING,))
    async with LocalBackend(options), player(tmp_path, "--data", str(options.data_dir), "--name", "carl") as me:
        await play_to_the_end(me, await me.until(" >"))
        settled = next(line for line in reversed(me.printed) if line.startswith("your points: "))
        booked = await _booked(me)
        assert booked.startswith(f"booked 入账: {settled.removeprefix('your points: ')} for hand 1, by PTS-L")
        assert booked.endswith("(posting 1)")
        await me.type("y")
        await me.until("hand 2 starts")


async def _booked(me: Player) -> str:
    """Return the line that tells the booking, which may have come before the last question."""
    known = [line for line in me.printed if line.startswith("booked")]
    return known[0] if known else (await me.until("booked"))[-1].strip()
