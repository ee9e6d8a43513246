"""Makes new golden histories: `python -m tests.golden.generate RELEASE [TABLES]`, the same for the same names.

For each ruleset it keeps, of TABLES random tables (8 by default), those in which something happens that no table kept
before has; then a few that are told, since chance hardly brings them about. Files that are there are left alone.
"""

import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("shared", "services", "tests")]

from audit.honest import CLOCK, OPERATOR, PLAYERS, Play  # noqa: E402
from baohuang.eventlog.codec import decode  # noqa: E402
from baohuang.eventlog.port import StreamId  # noqa: E402
from baohuang.handrecord.from_log import recorded_of  # noqa: E402
from baohuang.rules import commands as cmd  # noqa: E402
from baohuang.rules.clock import deadline_of  # noqa: E402
from baohuang.rules.events import Event  # noqa: E402
from baohuang.rules.rulesets import RULESETS, Options  # noqa: E402
from baohuang.rules.settlement import Solo  # noqa: E402
from baohuang.rules.state import Answer, Phase, TableId, in_progress  # noqa: E402
from golden.histories import DIGESTS, FOLDER, ending_of, read_history, stored_by, written  # noqa: E402
from golden.kinds import COURSES, RULINGS, kinds_of  # noqa: E402

Commands = list[tuple[cmd.Command, tuple[Event, ...]]]
_WANTED: Final = RULINGS | COURSES
_HANDS: Final = 2
_SURRENDER: Final = "HandFinished surrendered"
_RESTLESS: Final = (0.02, 0.0, 0.05)


def main(release: str, tables: int = 8) -> None:
    """Make the histories of a release."""
    FOLDER.mkdir(exist_ok=True)
    had = _kinds_there()
    for ruleset in RULESETS:
        for number in range(tables):
            play = _play(release, ruleset, number, _RESTLESS[number % len(_RESTLESS)])
            commands = list(play.commands(_HANDS))
            new = _kinds(commands) & _WANTED - had
            if new or not number:
                had |= new
                _keep(play, commands, sorted(new))
    for number, tell in enumerate((_abandoned, _all_trustees, _nobody_takes_the_crown, _forfeited_at_once)):
        play = _play(release, "ourgame-simple", 1000 + number, 0.0)
        commands = list(tell(play))
        if new := _kinds(commands) & _WANTED - had:
            had |= new
            _keep(play, commands, sorted(new))
    _keep_surrender(release, had)


def _kinds_there() -> set[str]:
    """Return the kinds of what happens in the histories that are there."""
    histories = map(read_history, FOLDER.glob("*.jsonl"))
    return kinds_of(decode(one.type, one.data) for history in histories for one in history.stored)


def _keep_surrender(release: str, had: set[str]) -> None:
    """DECL-5: of many deals, the first in which the emperor is dealt both marks."""
    if _SURRENDER in had:
        return
    for number in range(2000, 2100):
        play = _play(release, "homy-standard", number, 0.0)
        commands = list(_surrendered(play))
        if _SURRENDER in _kinds(commands):
            _keep(play, commands, [_SURRENDER])
            return


def _play(release: str, ruleset: str, number: int, restless: float) -> Play:
    return Play(TableId(f"{release}-{ruleset}-{number}"), ruleset, f"golden/{release}/{number}", restless)


def _kinds(commands: Commands) -> set[str]:
    return kinds_of(event for _, events in commands for event in events)


def _keep(play: Play, commands: Commands, for_what: list[str]) -> None:
    assert play.table is not None
    path = FOLDER / f"{play.table_id}.jsonl"
    if path.exists():
        print(f"{path.name} is there")  # noqa: T201 - a command line prints
        return
    stored = stored_by(StreamId(play.table_id), commands)
    text = written(ending_of(play.table, [recorded_of(one) for one in stored]), stored)
    path.write_bytes(text)
    with DIGESTS.open("a", encoding="ascii") as digests:
        digests.write(f"{sha256(text).hexdigest()}  tables/{path.name}\n")
    print(f"{path.name}: {len(stored)} events, {', '.join(for_what)}")  # noqa: T201 - a command line prints


def _abandoned(play: Play) -> Iterator[tuple[cmd.Command, tuple[Event, ...]]]:
    """TABLE-1: nobody sits down."""
    yield play._do(OPERATOR, cmd.OpenTable(play.table_id, play.ruleset, Options()))
    assert play.table is not None
    yield play._do(CLOCK, cmd.ExpireDeadline(deadline_of(play.table)))


def _begun(play: Play) -> Iterator[tuple[cmd.Command, tuple[Event, ...]]]:
    yield play._do(OPERATOR, cmd.OpenTable(play.table_id, play.ruleset, Options(), players=PLAYERS))
    for player in PLAYERS:
        yield play._do(player, cmd.SetReady(ready=True, entropy=f"熵 of {player}"))


def _all_trustees(play: Play) -> Iterator[tuple[cmd.Command, tuple[Event, ...]]]:
    """TRUST-4: all five are trustees, one having forfeited, and the hand is void; an operator takes both back."""
    yield from play.all_trustees()


def _nobody_takes_the_crown(play: Play) -> Iterator[tuple[cmd.Command, tuple[Event, ...]]]:
    """CROWN-2: ten refusals, a redeal; then the hand is played."""
    yield from _begun(play)
    while play.table and play.table.hand and play.table.hand.deal == 1 and play.table.hand.turn is not None:
        yield play._do(PLAYERS[play.table.hand.turn], cmd.Yield())
    while play.table and in_progress(play.table):
        yield play._next()


def _forfeited_at_once(play: Play) -> Iterator[tuple[cmd.Command, tuple[Event, ...]]]:
    """FINE-3: one forfeits before the roles are settled, an operator kicks another after; the operator voids it."""
    yield from _begun(play)
    yield play._do(PLAYERS[0], cmd.ForfeitSeat())
    while play.table and play.table.hand and not play.table.hand.roles.settled:
        yield play._next()
    yield play._do(OPERATOR, cmd.KickPlayer(1))
    yield play._do(OPERATOR, cmd.VoidHand("two of five are gone"))


def _surrendered(play: Play) -> Iterator[tuple[cmd.Command, tuple[Event, ...]]]:
    """DECL-5: an emperor who is a hidden solo surrenders as soon as he may; other hands are left there."""
    yield from _begun(play)
    while play.table and play.table.hand and play.table.hand.phase is not Phase.DECLARE:
        yield play._next()
    hand = play.table.hand if play.table else None
    if hand is None or hand.roles.emperor is None or hand.roles.solo is not Solo.HIDDEN:
        return
    yield play._do(PLAYERS[hand.roles.emperor], cmd.Declare(Answer.SURRENDER))
    while play.table and in_progress(play.table):
        yield play._next()


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
