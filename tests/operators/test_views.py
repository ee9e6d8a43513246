"""The views of the schema `history` tell what the log tells, and every column of them is explained."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, get_args

import asyncpg
import msgspec
import psycopg

from baohuang.audit.judgement import players_of
from baohuang.eventlog.codec import decode, encode
from baohuang.eventlog.port import StoredEvent, StreamId, Version
from baohuang.rules import events as ev
from baohuang.rules.evolve import evolve
from baohuang.rules.redact import redact
from baohuang.rules.state import Table

VIEWS = ("connections", "events", "evidence", "fines", "hands", "plays", "rulings", "trusteeships", "turns")
DONE_IN_TURN = (
    ev.Answered,
    ev.CardCalled,
    ev.CardsPlayed,
    ev.CrownYielded,
    ev.EmperorEnthroned,
    ev.OpenSoloDeclared,
    ev.Passed,
    ev.TributeReturned,
)


@dataclass(frozen=True, slots=True)
class Told:
    """An event of a table, the table before it, and the hand begun last by then."""

    stored: StoredEvent
    event: Any
    before: Table | None
    hand: ev.HandStarted | None

    @property
    def key(self) -> tuple[StreamId, Version]:
        """Its place."""
        return self.stored.stream_id, self.stored.version


def told(week: Sequence[StoredEvent]) -> Iterator[Told]:
    """Fold all streams, event by event."""
    tables: dict[str, Table | None] = {}
    hands: dict[str, ev.HandStarted] = {}
    for stored in week:
        event, before = decode(stored.type, stored.data), tables.get(stored.stream_id)
        if isinstance(event, ev.HandStarted):
            hands[stored.stream_id] = event
        yield Told(stored, event, before, hands.get(stored.stream_id))
        if not isinstance(event, ev.PlayerBanned | ev.PlayerReinstated):
            tables[stored.stream_id] = evolve(before, event)


async def rows(reader: asyncpg.Connection, view: str) -> Mapping[tuple[StreamId, Version], Mapping[str, Any]]:
    """Return a view's rows by stream and version."""
    version = "started_version" if view == "hands" else "version"
    found = [dict(row) for row in await reader.fetch(f"select * from history.{view}")]  # noqa: S608 - names above
    by_place = {(row["stream_id"], row[version]): row for row in found}
    assert len(by_place) == len(found)
    return by_place


def parsed(value: Any) -> Any:
    """Return what a column of JSON says."""
    return None if value is None else msgspec.json.decode(value)


def test_everything_is_explained(week_dsn: str) -> None:
    """These views there are, and each of them and of their columns has a comment."""
    with psycopg.connect(week_dsn) as connection:
        columns = connection.execute("""
            select c.relname, a.attname, col_description(c.oid, a.attnum), obj_description(c.oid, 'pg_class')
            from pg_class as c join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0
            where c.relnamespace = 'history'::regnamespace
        """).fetchall()
    assert sorted({view for view, *_ in columns}) == sorted(VIEWS)
    assert [column for column in columns if not all(column)] == []


async def test_rulings_are_those_of_the_rules(reader: asyncpg.Connection, week: Sequence[StoredEvent]) -> None:
    """Each ruling has a row: clause, hand, whom it is about, what it rests on; and no other event has one."""
    found = await rows(reader, "rulings")
    expected = {one.key: one for one in told(week) if ev.is_ruling(one.event)}
    reversals = {(key[0], one.event.reverses): one for key, one in expected.items() if hasattr(one.event, "reverses")}
    assert found.keys() == expected.keys()
    for key, row in found.items():
        one = expected[key]
        ruled = expected[one.stored.stream_id, one.event.reverses] if one in reversals.values() else one
        by = reversals.get(key)
        about = players_of(one.event, one.hand.players if one.hand else ())
        assert (row["type"], row["rule"]) == (one.stored.type, one.event.rule)
        assert row["hand"] == (ruled.hand.hand if ruled.hand else None)
        assert parsed(row["players"]) == list(about)
        assert row["player"] == getattr(one.event, "player", None)
        assert parsed(row["rests_on"]) == list(getattr(one.event, "rests_on", ()))
        assert row["decided_at"] == datetime.fromisoformat(one.event.decided_at)
        assert (row["note"] or "") == getattr(one.event, "note", "")
        assert (row["reversed_by"], row["reverses"]) == (
            by.stored.version if by else None,
            getattr(one.event, "reverses", None),
        )
        is_of_points = isinstance(one.event, ev.PlayerFined | ev.FineReversed)
        assert row["points"] == (one.event.points if is_of_points else None)
    assert {one.stored.type for one in reversals.values()} == {"FineReversed", "VoidReversed"}


async def test_evidence_is_what_rulings_rest_on(reader: asyncpg.Connection, week: Sequence[StoredEvent]) -> None:
    """A row for each ruling and each event that it names."""
    at = {(one.stream_id, one.version): one for one in week}
    found = await reader.fetch("select * from history.evidence")
    assert {(row["stream_id"], row["ruling"], row["version"]) for row in found} == {
        (one.stored.stream_id, one.stored.version, version)
        for one in told(week)
        if ev.is_ruling(one.event)
        for version in getattr(one.event, "rests_on", ())
    }
    for row in found:
        event = at[row["stream_id"], row["version"]]
        assert (row["type"], row["actor"], row["recorded_at"]) == (event.type, event.actor, event.recorded_at)
    assert len(found) > 20


def test_no_kind_of_ruling_is_left_out(week_dsn: str) -> None:
    """The view names every kind of ruling there is in the rules, whether one was recorded or not."""
    with psycopg.connect(week_dsn) as connection:
        row = connection.execute("select pg_get_viewdef('history.rulings'::regclass)").fetchone()
    assert row is not None
    assert [kind.__name__ for kind in get_args(ev.Ruling) if f"'{kind.__name__}'" not in row[0]] == []


async def test_hands_are_those_that_were_begun(reader: asyncpg.Connection, week: Sequence[StoredEvent]) -> None:
    """Each hand has a row with its players and, once it is over, how it ended."""
    found = await rows(reader, "hands")
    ends = {(one.stored.stream_id, one.event.hand): one for one in told(week) if isinstance(one.event, ev.HandFinished)}
    begun = [one for one in told(week) if isinstance(one.event, ev.HandStarted)]
    reversals = {
        (one.stored.stream_id, one.event.hand): one for one in told(week) if isinstance(one.event, ev.VoidReversed)
    }
    assert found.keys() == {one.key for one in begun}
    for one in begun:
        row, end = found[one.key], ends.get((one.stored.stream_id, one.event.hand))
        assert (row["hand"], row["ruleset"]) == (one.event.hand, one.event.ruleset)
        assert parsed(row["players"]) == list(one.event.players)
        assert (row["started_at"], row["started_position"]) == (one.stored.recorded_at, one.stored.position)
        assert row["finished_version"] == (end.stored.version if end else None)
        if end is None:
            assert (row["points"], row["void"], row["finished_at"]) == (None, False, None)
            continue
        reversal = reversals.get((one.stored.stream_id, one.event.hand))
        over = reversal.event if reversal else end.event
        assert row["void_reversed_by"] == (reversal.stored.version if reversal else None)
        assert parsed(row["points"]) == list(over.points)
        assert (row["void"], row["surrendered"]) == (end.event.void, over.surrendered)
        assert (row["emperor"], row["guard"]) == (over.emperor, over.guard)
        assert (parsed(row["places"]) or []) == list(over.places)
    assert any(row["points"] is None for row in found.values())
    assert {row["void_reversed_by"] is None for row in found.values() if row["void"]} == {True, False}


async def test_turns_are_opened_and_due_as_the_table_had_it(
    reader: asyncpg.Connection, week: Sequence[StoredEvent]
) -> None:
    """Each thing done in a turn has a row: whose, by whom, since when, until when, by the state before it."""
    found = await rows(reader, "turns")
    at = {(one.stream_id, one.version): one.recorded_at for one in week}
    expected = {one.key: one for one in told(week) if isinstance(one.event, DONE_IN_TURN)}
    assert found.keys() == expected.keys()
    for key, row in found.items():
        one = expected[key]
        assert one.before is not None
        assert one.before.hand is not None
        assert one.hand is not None
        hand = one.before.hand
        by_himself = not (getattr(one.event, "automatic", False) or getattr(one.event, "forced", False))
        assert row["opened_at"] == at[one.stored.stream_id, Version(hand.turn_version)]
        assert row["due_at"] == (datetime.fromisoformat(hand.due_at) if hand.due_at else None)
        assert row["seat_of"] == hand.players[one.event.seat]
        assert row["player"] == (hand.players[one.event.seat] if by_himself else None)
        assert (row["hand"], row["seat"]) == (one.hand.hand, one.event.seat)
        assert row["took_ms"] == _ms(row["recorded_at"], row["opened_at"])
        assert row["left_ms"] == (_ms(row["due_at"], row["recorded_at"]) if hand.due_at else None)
    assert {row["player"] is None for row in found.values()} == {True, False}


def _ms(later: datetime, earlier: datetime) -> int:
    return round((later - earlier).total_seconds() * 1000)


async def test_plays_are_turns_in_tricks(reader: asyncpg.Connection, week: Sequence[StoredEvent]) -> None:
    """Cards played and passes, with the cards."""
    found = await rows(reader, "plays")
    expected = {one.key: one for one in told(week) if isinstance(one.event, ev.CardsPlayed | ev.Passed)}
    assert found.keys() == expected.keys()
    for key, row in found.items():
        event = expected[key].event
        assert row["passed"] == isinstance(event, ev.Passed)
        assert (parsed(row["cards"]) or []) == list(getattr(event, "cards", ()))
        assert (row["cards_left"] or 0, row["place"] or 0) == (getattr(event, "left", 0), getattr(event, "place", 0))


async def test_fines_trusteeships_and_lines(reader: asyncpg.Connection, week: Sequence[StoredEvent]) -> None:
    """Each has a row of its own; a trusteeship lasts until it is cancelled or its hand is over."""
    every = list(told(week))
    fines = {one.key: one.event for one in every if isinstance(one.event, ev.PlayerFined)}
    found = await rows(reader, "fines")
    assert {key: (row["player"], row["points"], row["reason"]) for key, row in found.items()} == {
        key: (fine.player, fine.points, fine.reason.value) for key, fine in fines.items()
    }
    lines = {one.key: one.event for one in every if isinstance(one.event, ev.ConnectionLost | ev.ConnectionRestored)}
    found = await rows(reader, "connections")
    assert {key: (row["player"], row["seat"], row["lost"]) for key, row in found.items()} == {
        key: (line.player, line.seat, isinstance(line, ev.ConnectionLost)) for key, line in lines.items()
    }
    found = await rows(reader, "trusteeships")
    entered = {one.key: one for one in every if isinstance(one.event, ev.TrusteeshipEntered)}
    assert found.keys() == entered.keys()
    for key, row in found.items():
        one = entered[key]
        assert (row["player"], row["entry"], row["seat"]) == (one.event.player, one.event.entry, one.event.seat)
        assert row["ended_at"] == next(
            (
                end.stored.recorded_at
                for end in every
                if end.stored.stream_id == key[0]
                and end.stored.version > key[1]
                and (
                    isinstance(end.event, ev.HandFinished)
                    or (isinstance(end.event, ev.TrusteeshipCancelled) and end.event.seat == one.event.seat)
                )
            ),
            None,
        )


async def test_events_are_redacted_until_the_hand_is_over(
    reader: asyncpg.Connection, week: Sequence[StoredEvent]
) -> None:
    """What the public may know of each event; all of it once the hand is over, with salt and request id."""
    found = await rows(reader, "events")
    over = {one.stream_id: one.version for one in week if one.type == "HandFinished"}
    assert found.keys() == {(one.stream_id, one.version) for one in week}
    kept_back = 0
    for stored in week:
        row = found[stored.stream_id, stored.version]
        is_over = stored.version <= over.get(stored.stream_id, 0)
        event = decode(stored.type, stored.data)
        _, data = encode(redact(event, None, is_over))
        assert parsed(row["data"]) == msgspec.json.decode(data)
        assert (row["salt"], row["request_id"]) == ((stored.salt, stored.request_id) if is_over else (None, None))
        assert (row["hash"], row["actor"], row["position"]) == (stored.hash, stored.actor, stored.position)
        kept_back += not is_over and getattr(event, "hidden", None) is not None
    assert kept_back > 10
