"""How a hand ended, in lines. Pure."""

from collections.abc import Sequence
from typing import assert_never

from baohuang.rules.events import HandFinished
from baohuang.rules.state import ALL_SEATS, Result, Table
from baohuang.scoring.events import Booked, FinePosted, FineReturned, HandScored
from command_line.demo.report import how_scored
from command_line.demo.words import PLACES, called


def settled(table: Table, finished: HandFinished | None, seat: int) -> Sequence[str]:
    """Return the settlement by place, the seat's own points last; `finished` adds what doubled them."""
    if table.hand is None or table.hand.result is None:
        return ()
    result = table.hand.result
    order = result.places or ALL_SEATS
    lines = ["settlement 结算", *(_line(table, result, one) for one in order)]
    lines += how_scored(table, finished) if finished else ()
    return [*lines, f"your points: {result.points[seat]:+d}"]


def booked(posted: Booked, seat: int) -> str:
    """Tell what the ledger has of a hand that the seat played, or of a fine, taken or given back."""
    match posted:
        case HandScored(void=True):
            return f"booked 入账: hand {posted.hand} is void, no points (posting {posted.posting})"
        case HandScored():
            points = posted.seats[seat].points
            return f"booked 入账: {points:+d} for hand {posted.hand}, by {posted.rule} (posting {posted.posting})"
        case FinePosted():
            fined = f"{posted.points:+d} for {posted.player}, fined"
            return f"booked 入账: {fined} by {posted.rule} (posting {posted.posting})"
        case FineReturned():
            back = f"{posted.points:+d} for {posted.player}, whose fine was taken back"
            return f"booked 入账: {back} by {posted.rule} (posting {posted.posting})"
        case _:
            assert_never(posted)


def _line(table: Table, result: Result, seat: int) -> str:
    place = PLACES[result.places.index(seat)] if result.places else "–"
    return f"  {place}  {called(table, seat)}  {result.points[seat]:+d}"
