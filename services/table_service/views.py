"""What a viewer is shown of a table: masked first, then put into the contract's messages."""

from datetime import datetime, timedelta

from baohuang.gen.table.v1 import table_view_pb2
from baohuang.rpc.messages import to_proto
from baohuang.rules.clock import NEVER
from baohuang.rules.redact import Viewer, mask
from baohuang.rules.state import PlayerId, Table
from table_service.curtain import Seen
from table_service.tables import HeldTable


def viewer_seat(table: Table | None, player: PlayerId) -> Viewer:
    """Return the player's seat in the table's hand, None for everybody else."""
    players = table.hand.players if table and table.hand else ()
    return players.index(player) if player in players else None


def millis_left(table: Table | None, moment: datetime) -> int | None:
    """Return how long whoever has to act still has at that moment; None when no clock runs."""
    due_at = table.hand.due_at if table and table.hand else NEVER
    if not due_at:
        return None
    return max(0, (datetime.fromisoformat(due_at) - moment) // timedelta(milliseconds=1))


def view_of(held: HeldTable, player: PlayerId, now: datetime) -> table_view_pb2.TableView:
    """Return the table as the player may see it now; a spectator perhaps as it was some plays ago."""
    seen = held.seen_by(player)
    viewer = viewer_seat(seen.table, player)
    view = to_proto(mask(seen.table, viewer), table_view_pb2.TableView)
    view.version, view.hash = seen.version, seen.hash
    if viewer is not None:
        view.viewer_seat = viewer
    left = time_left(seen, now)
    if left is not None:
        view.millis_left = left
    return view


def time_left(seen: Seen, now: datetime) -> int | None:
    """Return how long whoever has to act still has; None when no clock runs, or none that the viewer may know of."""
    return None if seen.delayed else millis_left(seen.table, now)
