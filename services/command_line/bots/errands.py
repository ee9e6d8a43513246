"""What there is to do for a bot at its table. Pure, of what its seat is shown."""

from enum import Enum

from baohuang.rules.bots import is_bot
from baohuang.rules.phases.asking import seats_to_act
from baohuang.rules.state import NOBODY, PlayerId, Table, TableStatus, in_progress


class Errand(Enum):
    """What a bot has to do next."""

    WAIT = "wait"
    MOVE = "move"
    TAKE_BACK = "take back"
    """Take its seat back from the trustee."""
    GET_READY = "get ready"
    STAND_UP = "stand up"
    """Leave the table, where no person sits any more."""
    GO = "go"
    """Nothing: it neither sits here nor plays."""


def errand(table: Table, seat: int, player: PlayerId) -> Errand:
    """Return what the bot, who was given the seat, has to do."""
    if table.hand is not None and in_progress(table) and table.hand.players[seat] == player:
        if may_take_back(table, seat):
            return Errand.TAKE_BACK
        return Errand.MOVE if seat in seats_to_act(table.hand) else Errand.WAIT
    if table.status is not TableStatus.OPEN or table.seats[seat].player != player:
        return Errand.GO
    if in_progress(table):
        return Errand.WAIT
    if all(taken.player == NOBODY or is_bot(taken.player) for taken in table.seats):
        return Errand.STAND_UP
    return Errand.WAIT if table.seats[seat].ready else Errand.GET_READY


def may_take_back(table: Table, seat: int) -> bool:
    """Tell whether the trustee plays the seat in the hand now, and would give it back (TRUST-3)."""
    if table.hand is None or table.hand.result is not None:
        return False
    standing = table.hand.trusteeships[seat]
    return standing.active and not standing.permanent


def hand_is_closed(table: Table) -> bool:
    """Tell whether a hand is over and the table has settled what follows: the next commitment, or its end (TRUST-4)."""
    finished = table.hand is not None and table.hand.result is not None
    return finished and (table.commitment is not None or table.status is TableStatus.DISSOLVED)
