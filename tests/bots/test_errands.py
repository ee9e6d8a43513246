"""What a bot finds to do: whatever has become of its table, something that the rules accept, and nothing too much."""

from collections import Counter
from dataclasses import replace
from hashlib import sha256
from typing import Final

import pytest

from baohuang.rules import commands as cmd
from baohuang.rules.bots import BOT_PREFIX, is_bot
from baohuang.rules.decide import decide
from baohuang.rules.phases.asking import seats_to_act
from baohuang.rules.redact import mask
from baohuang.rules.rulesets import RULESETS, Options
from baohuang.rules.state import ALL_SEATS, NOBODY, Instant, PlayerId, Table, TableStatus, in_progress
from command_line.bots.errands import Errand, errand
from command_line.bots.policy import choose
from contract.random_play import play

AT: Final = Instant("2026-01-31T08:05:09.000123Z")
SEED: Final = sha256().hexdigest()
PLAYERS: Final = tuple(PlayerId(f"player-{seat}") for seat in ALL_SEATS)
ONE_IN: Final = 20


def tables(ruleset: str) -> list[Table]:
    """Return tables in all kinds of states: seats left and taken, trustees, closed for good, and some of each phase."""
    found = [step.table for seed in range(6) for step in play(ruleset, Options(), seed, hands=2)]
    return [table for number, table in enumerate(found) if number % ONE_IN == 0 or is_rare(table)]


def is_rare(table: Table) -> bool:
    if table.hand is None or not in_progress(table):
        return True
    return any(standing.active for standing in table.hand.trusteeships)


def action_of(kind: Errand, table: Table, seat: int) -> cmd.Action | None:
    """Return what a bot does about an errand."""
    match kind:
        case Errand.MOVE:
            return choose(mask(table, seat), seat)
        case Errand.TAKE_BACK:
            return cmd.CancelTrusteeship()
        case Errand.GET_READY:
            return cmd.SetReady(ready=True)
        case Errand.STAND_UP:
            return cmd.StandUp()
        case _:
            return None


@pytest.mark.parametrize("ruleset", RULESETS)
def test_every_errand_is_accepted_and_none_is_missed(ruleset: str) -> None:
    """Of a seat's own masked table: each errand's command is legal; who has to act, or to get ready, has one."""
    seen: Counter[Errand] = Counter()
    for table in tables(ruleset):
        for seat, player in enumerate(PLAYERS):
            kind = errand(mask(table, seat), seat, player)
            seen[kind] += 1
            if action := action_of(kind, table, seat):
                decide(table, cmd.Command(player, action, AT, SEED))
            if in_progress(table) and table.hand is not None and seat in seats_to_act(table.hand):
                assert kind is Errand.MOVE
            if table.status is TableStatus.OPEN and not in_progress(table) and table.seats[seat].player == player:
                assert kind is (Errand.WAIT if table.seats[seat].ready else Errand.GET_READY)
    assert set(seen) >= {Errand.MOVE, Errand.TAKE_BACK, Errand.GET_READY, Errand.GO}


def test_bots_among_themselves_leave() -> None:
    """With nobody but bots at an open table between hands each stands up; with one person none does."""
    checked = 0
    for table in tables("ourgame-simple"):
        if in_progress(table) or table.status is not TableStatus.OPEN or not table.seats[1].player:
            continue
        for people in ((), (2,)):
            names = tuple(PlayerId("an" if seat in people else f"{BOT_PREFIX}{seat}") for seat in ALL_SEATS)
            taken = zip(table.seats, names, strict=True)
            seats = tuple(replace(old, player=name if old.player else NOBODY) for old, name in taken)
            alone = all(is_bot(one.player) for one in seats if one.player)
            kind = errand(replace(table, seats=seats), 1, names[1])
            assert (kind is Errand.STAND_UP) == alone
            checked += 1
    assert checked > 10
