"""The audit of crowds is not blind: each kind of wrong history, stream and answer is found."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from msgspec import structs

from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import Actor
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.gen.table.v1 import watch_pb2
from baohuang.rpc.event_messages import event_to_proto
from baohuang.rules import events as ev
from baohuang.rules.state import PlayerId
from bench.random_player import chance_of
from rules.witness import Witness
from table_service.deadlines import CLOCK
from tables.audit import Line, check_answers, check_clock, check_people, check_rulings, check_turns, history
from tables.clients import Client, fresh
from tables.games import Game, started
from tables.ledger import Ledger
from tables.replicas import Replica
from tables.viewers import Viewer
from tables.virtual_time import NEVER_POLLS, Keeper, VirtualTime, keeper

Lines = list[Line]


async def some_play(service: Replica) -> Game:
    """Give a table in the middle of a hand, one seat of which was forfeited."""
    game, chance = await started(service, "homy-weihai"), chance_of("audit")
    for _ in range(20):
        await game.step(chance)
    await game.clients[0].call(pb.ForfeitSeatRequest(request_id=fresh(), table_id=game.table_id))
    return game


def first_of(lines: Lines, kind: type[ev.Event]) -> int:
    """Return the place of the first event of a kind."""
    return next(place for place, line in enumerate(lines) if isinstance(line.event, kind))


def with_event(lines: Lines, kind: type[ev.Event], **changes: Any) -> Lines:
    """Return the lines with the first event of a kind changed."""
    place = first_of(lines, kind)
    changed: Any = replace(lines[place].event, **changes)
    return [*lines[:place], replace(lines[place], event=changed), *lines[place + 1 :]]


def by_another(lines: Lines) -> Lines:
    """Let somebody else have made a play."""
    place = first_of(lines, ev.CardsPlayed)
    stored = structs.replace(lines[place].stored, actor=Actor("nobody"))
    return [*lines[:place], replace(lines[place], stored=stored), *lines[place + 1 :]]


def twice(lines: Lines) -> Lines:
    """Let a turn have been played twice."""
    place = first_of(lines, ev.CardsPlayed)
    return [*lines[: place + 1], *lines[place:]]


@pytest.mark.parametrize("spoil", [by_another, twice], ids=lambda spoil: spoil.__name__)
async def test_wrong_turns_are_found(service: Replica, spoil: Callable[[Lines], Lines]) -> None:
    """A turn with two outcomes, or with one by somebody else."""
    game = await some_play(service)
    lines = await history(service.log, game.table_id)
    check_turns(lines)
    with pytest.raises(AssertionError):
        check_turns(spoil(lines))


@pytest.mark.parametrize(
    "changes", [{"rule": "FINE-99"}, {"rests_on": ()}, {"rests_on": (100_000,)}, {"decided_at": ""}], ids=str
)
async def test_unfounded_rulings_are_found(service: Replica, changes: dict[str, Any]) -> None:
    """A clause that is none, nothing to rest on, an event that is not there, no reading of the clock."""
    game = await some_play(service)
    lines = await history(service.log, game.table_id)
    check_rulings(lines)
    with pytest.raises(AssertionError):
        check_rulings(with_event(lines, ev.PlayerFined, **changes))


async def test_an_early_end_of_a_turn_is_found() -> None:
    """An expiry stored before its deadline, one that was due to be an extension, and one that is not the clock's."""
    time = VirtualTime()
    async with keeper(MemoryLog(time.now), time, NEVER_POLLS) as kept:
        lines = await expired(kept)
    entered = first_of(lines, ev.TrusteeshipEntered)
    at = {(lines[entered].stored.stream_id, lines[entered].stored.version): time.now()}
    check_clock(lines, at)
    with pytest.raises(AssertionError):
        check_clock(lines, {key: moment - timedelta(seconds=1) for key, moment in at.items()})
    for changes in ({"actor": "an"}, {"recorded_at": time.now() + timedelta(seconds=10)}):
        spoilt = [replace(line, stored=structs.replace(line.stored, **changes)) for line in lines[entered:]]
        with pytest.raises(AssertionError):
            check_clock([*lines[:entered], *spoilt], {})


async def expired(kept: Keeper) -> Lines:
    """Return the history of a table whose first turn has expired."""
    table_id = await kept.started()
    await kept.advance(5.1)
    lines = await history(kept.log, table_id)
    assert lines[-1].stored.actor == str(CLOCK)
    return lines


async def test_wrong_streams_are_found(service: Replica) -> None:
    """Another's cards in an event, another's hand in a view, a wrong hash."""
    game = await some_play(service)
    lines = await history(service.log, game.table_id)
    viewer = Viewer(Client(service.channel, "spectator"), game.table_id)
    await viewer.reach(lines[-1].stored.version)
    dealt = lines[first_of(lines, ev.CardsDealt)]
    right = viewer.received[0].snapshot
    check_people(lines, {"spectator": [viewer]}, [])
    wrong_hash = watch_pb2.WatchTableResponse(snapshot=right)
    wrong_hash.snapshot.hash = bytes(32)
    shown = watch_pb2.WatchTableResponse(snapshot=right)
    shown.snapshot.hand.hands[1].cards[0] = "9h"
    told = watch_pb2.WatchTableResponse(
        update=watch_pb2.Update(version=dealt.stored.version, event=event_to_proto(dealt.event))
    )
    for wrong in (wrong_hash, shown, told):
        viewer.received = [wrong]
        with pytest.raises(AssertionError):
            check_people(lines, {"spectator": [viewer]}, [])


async def test_a_secret_is_found_by_who_looks_for_it_alone(service: Replica) -> None:
    """Even if `redact` and what was sent agreed on it, the witness knows better: TABLE-2 is worked out apart."""
    game = await some_play(service)
    lines = await history(service.log, game.table_id)
    dealt = lines[first_of(lines, ev.CardsDealt)]
    witness = Witness(())
    with pytest.raises(AssertionError):
        witness.check_event(dealt.before, dealt.event, dealt.after, 0)
    with pytest.raises(AssertionError):
        witness.check_table(dealt.after, dealt.after, 0)


async def test_wrong_answers_are_found(service: Replica) -> None:
    """A reply of another version, one to what is not stored, a stored request that was refused, an unasked effect."""
    game, ledger = await some_play(service), Ledger()
    guest = Client(service.channel, "guest")
    await ledger.ask(guest, pb.StandUpRequest(request_id=fresh(), table_id=game.table_id))
    opening = pb.OpenTableRequest(request_id=fresh(), ruleset="homy-weihai")
    await ledger.ask(guest, opening)
    key = ("guest", opening.request_id)
    stored = [one for one in await service.log.read_all(limit=100_000) if one.actor == PlayerId("guest")]  # type: ignore[comparison-overlap]
    check_answers(ledger, stored)
    (asked,) = ledger.asked[key]
    reply = asked.replies[0]
    wrong = pb.OpenTableResponse(table_id=reply.table_id, version=reply.version + 1, hash=reply.hash)
    cases: Sequence[tuple[list[Any], Sequence[Any]]] = (([reply, wrong], stored), ([reply], stored[:0]), ([], stored))
    for replies, events in cases:
        asked.replies = replies
        with pytest.raises(AssertionError):
            check_answers(ledger, events)
    with pytest.raises(AssertionError):
        check_answers(Ledger(), stored)
