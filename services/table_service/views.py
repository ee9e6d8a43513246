"""What a viewer is shown of a table and of an event: redacted first, then put into the contract's messages."""

from datetime import datetime, timedelta

from baohuang.eventlog.chain import instant, publish
from baohuang.gen.table.v1 import table_view_pb2, watch_pb2
from baohuang.rpc.messages import event_to_proto, to_proto
from baohuang.rules.clock import NEVER
from baohuang.rules.phases.asking import seats_to_act
from baohuang.rules.redact import Viewer, mask, redact
from baohuang.rules.state import PlayerId, Table
from table_service.tables import Happened, HeldTable


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
    """Return the table as the player may see it now."""
    if held.table is None:
        raise ValueError("a table that is held in memory exists")
    viewer = viewer_seat(held.table, player)
    view = to_proto(mask(held.table, viewer), table_view_pb2.TableView)
    view.version, view.hash = held.version, held.hash
    if viewer is not None:
        view.viewer_seat = viewer
    left = millis_left(held.table, now)
    if left is not None:
        view.millis_left = left
    return view


def snapshot_for(held: HeldTable, player: PlayerId, now: datetime) -> watch_pb2.WatchTableResponse:
    """Return the view as a message of the stream."""
    return watch_pb2.WatchTableResponse(snapshot=view_of(held, player, now))


def heartbeat_for(table: Table | None, version: int, now: datetime) -> watch_pb2.WatchTableResponse:
    """Return a sign of life to a watcher who has been sent that version."""
    left = millis_left(table, now)
    return watch_pb2.WatchTableResponse(heartbeat=watch_pb2.Heartbeat(version=version, millis_left=left))


def update_for(happened: Happened, viewer: Viewer) -> watch_pb2.WatchTableResponse:
    """Return the event as the viewer may see it. Live and later alike: as it was shown when it happened."""
    stored, hand = happened.stored, happened.table.hand
    return watch_pb2.WatchTableResponse(
        update=watch_pb2.Update(
            version=stored.version,
            hash=stored.hash,
            hidden_digest=publish(stored).hidden_digest,
            recorded_at=instant(stored.recorded_at),
            actor=stored.actor,
            type=stored.type,
            event=event_to_proto(redact(happened.event, viewer, hand_over=False)),
            seats_to_act=seats_to_act(hand) if hand else (),
            millis_left=millis_left(happened.table, stored.recorded_at),
        )
    )
