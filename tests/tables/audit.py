"""What must hold after a crowd has been at a table, from the log and from what everybody was sent and answered."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from baohuang.eventlog import chain
from baohuang.eventlog.codec import decode
from baohuang.eventlog.port import EventLog, StoredEvent, StreamId
from baohuang.gen.table.v1 import table_view_pb2, watch_pb2
from baohuang.rpc.event_messages import event_from_proto, event_to_proto
from baohuang.rpc.messages import from_proto
from baohuang.rules import events as ev
from baohuang.rules.evolve import evolve
from baohuang.rules.phases.asking import seats_to_act
from baohuang.rules.redact import Viewer as Seat
from baohuang.rules.redact import mask, redact
from baohuang.rules.state import Table, TrusteeshipReason
from rules.witness import Witness
from table_service.deadlines import CLOCK
from tables.ledger import Ledger
from tables.viewers import Viewer

CLAUSES = frozenset(re.findall(r"\b[A-Z]+\d?-[A-Z0-9]+\b", Path("docs/rules.md").read_text(encoding="utf-8")))
ACTS = (
    ev.TributeReturned, ev.CrownYielded, ev.EmperorEnthroned, ev.Answered, ev.CardCalled, ev.OpenSoloDeclared,
    ev.CardsPlayed, ev.Passed,
)  # fmt: skip
"""What a seat does that was asked: the one way its turn ends."""


@dataclass(frozen=True, slots=True)
class Line:
    """An event of the log between the table before and after it."""

    stored: StoredEvent
    event: ev.Event
    before: Table | None
    after: Table


async def history(log: EventLog, table_id: str) -> list[Line]:
    """Return a table's events from the first on; its chain must hold to its head."""
    stream_id = StreamId(table_id)
    stored = await log.read_stream(stream_id, limit=100_000)
    chain.verify_end(chain.verify(chain.start(stream_id), stored), await log.head(stream_id))
    lines: list[Line] = []
    table: Table | None = None
    for one in stored:
        event, before = decode(one.type, one.data), table
        table = evolve(table, event)
        lines.append(Line(one, event, before, table))
    return lines


def commands_of(lines: Iterable[Line]) -> list[list[Line]]:
    """Return the events command by command; those of one stand together, under an id of its own."""
    commands: list[list[Line]] = []
    seen: set[tuple[str, str]] = set()
    for line in lines:
        key = (line.stored.actor, line.stored.request_id)
        if commands and key == (commands[-1][0].stored.actor, commands[-1][0].stored.request_id):
            commands[-1].append(line)
        else:
            assert key not in seen, f"two effects of {key}"
            seen.add(key)
            commands.append([line])
    return commands


def check_answers(ledger: Ledger, stored: Iterable[StoredEvent]) -> None:
    """Every accepted request has one effect, and every reply to it, first or later, tells that; others have none."""
    effects: defaultdict[tuple[str, str], list[StoredEvent]] = defaultdict(list)
    for one in stored:
        effects[one.actor, one.request_id].append(one)
    for key, several in ledger.asked.items():
        replies = {(reply.table_id, reply.version, reply.hash) for asked in several for reply in asked.replies}
        effect = effects.pop(key, [])
        told = {(one.stream_id, one.version, one.hash) for one in effect[-1:]}
        assert replies <= told, key
        assert sum(bool(asked.replies) for asked in several) <= 1, f"two bodies accepted under {key}"
        assert not effect or replies or any(asked.may_be_stored for asked in several), f"{key} was refused and stored"
    assert all(actor.startswith("@") for actor, _ in effects), "somebody acted whom nobody asked to"


def check_turns(lines: Sequence[Line]) -> None:
    """Each seat asked in a turn acts in it once: by its player's own command, or by its trustee."""
    seen: set[tuple[int, int, int]] = set()
    for line in lines:
        if not isinstance(line.event, ACTS) or line.before is None or line.before.hand is None:
            continue
        hand, seat = line.before.hand, line.event.seat
        if getattr(line.event, "forced", False):
            continue
        turn = (hand.number, hand.turn_version, seat)
        assert turn not in seen, f"two outcomes of one turn at version {line.stored.version}"
        seen.add(turn)
        assert seat in seats_to_act(hand)
        assert hand.trusteeships[seat].active or str(line.stored.actor) == hand.players[seat]
        assert getattr(line.event, "automatic", False) == hand.trusteeships[seat].active


def check_clock(lines: Sequence[Line], appended_at: Mapping[Any, datetime]) -> None:
    """TRUST-1, TRUST-5: the clock ends no turn before its deadline, by the log's own time, nor one it is too late for.

    It alone does so, for everybody still to act, and never fines anybody.
    """
    for command in commands_of(lines):
        first, entered = command[0], [one for line in command if isinstance(one := line.event, ev.TrusteeshipEntered)]
        by_clock = str(first.stored.actor) == CLOCK
        assert by_clock or not any(one.reason is TrusteeshipReason.TIMEOUT for one in entered)
        if not by_clock or first.before is None or first.before.hand is None or not first.before.hand.due_at:
            continue
        hand, due_at = first.before.hand, datetime.fromisoformat(first.before.hand.due_at)
        late = first.stored.recorded_at - due_at
        assert appended_at.get((first.stored.stream_id, first.stored.version), due_at) >= due_at
        assert not any(isinstance(line.event, ev.PlayerFined) for line in command)
        if late > timedelta(seconds=first.before.options.grace_seconds):
            assert [type(line.event) for line in command] == [ev.TurnExtended]
        else:
            timed_out = [one.seat for one in entered if one.reason is TrusteeshipReason.TIMEOUT]
            assert tuple(timed_out) == seats_to_act(hand)


def check_rulings(lines: Sequence[Line]) -> None:
    """RULE-1: each names a clause of the rules, a clock reading, and earlier events of this table that it rests on."""
    for line in lines:
        if not hasattr(line.event, "rests_on"):
            continue
        ruling: Any = line.event
        assert ruling.rule in CLAUSES, ruling
        assert ruling.decided_at == chain.instant(line.stored.recorded_at)
        assert list(ruling.rests_on) == sorted(set(ruling.rests_on))
        assert ruling.rests_on, ruling
        assert all(0 < version < line.stored.version for version in ruling.rests_on)


def check_people(lines: Sequence[Line], people: Mapping[str, Sequence[Viewer]], views: Sequence[Any]) -> None:
    """Every message of every stream, and every view that was asked for, is right and tells nobody what is not his."""
    updates, snapshots = _sent(lines[0].stored.stream_id, people, views)
    witness = Witness(())
    for line in lines:
        witness.follow(line.before, line.event, line.after)
        for name, update in updates[line.stored.version]:
            _check_update(witness, line, seat_in(line.after, name), update)
        for name, view in snapshots[line.stored.version]:
            _check_view(witness, line, seat_in(line.after, name), view)


def _sent(
    table_id: str, people: Mapping[str, Sequence[Viewer]], views: Sequence[tuple[str, table_view_pb2.TableView]]
) -> tuple[defaultdict[int, list[Any]], defaultdict[int, list[Any]]]:
    """Return all updates and all views of a table, by version, with who got them."""
    updates: defaultdict[int, list[tuple[str, watch_pb2.Update]]] = defaultdict(list)
    snapshots: defaultdict[int, list[tuple[str, table_view_pb2.TableView]]] = defaultdict(list)
    for name, view in views:
        if view.table_id == table_id:
            snapshots[view.version].append((name, view))
    for name, viewers in people.items():
        for response in [one for viewer in viewers if viewer.table_id == table_id for one in viewer.received]:
            if response.HasField("update"):
                updates[response.update.version].append((name, response.update))
            elif response.HasField("snapshot"):
                snapshots[response.snapshot.version].append((name, response.snapshot))
    return updates, snapshots


def seat_in(table: Table, name: str) -> Seat:
    """Return the seat from which a person sees the table: that of the hand, played or last."""
    players: Sequence[str] = table.hand.players if table.hand else ()
    return players.index(name) if name in players else None


def _check_update(witness: Witness, line: Line, seat: Seat, update: watch_pb2.Update) -> None:
    public = chain.publish(line.stored)
    assert (update.hash, update.hidden_digest) == (public.hash, public.hidden_digest)
    assert (update.type, update.actor) == (line.stored.type, line.stored.actor)
    assert update.recorded_at == chain.instant(line.stored.recorded_at)
    acting = seats_to_act(line.after.hand) if line.after.hand else ()
    assert tuple(update.seats_to_act) == acting
    assert update.event == event_to_proto(redact(line.event, seat, hand_over=False))
    witness.check_event(line.before, event_from_proto(update.event), line.after, seat)


def _check_view(witness: Witness, line: Line, seat: Seat, view: table_view_pb2.TableView) -> None:
    assert view.hash == line.stored.hash
    assert (view.viewer_seat if view.HasField("viewer_seat") else None) == seat
    shown = from_proto(view, Table)
    assert shown == mask(line.after, seat)
    witness.check_table(line.after, shown, seat)
