"""Hidden information and the ways out of the history service: every method, whoever calls, while hands are played."""

import re
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, Final

import grpc
import pytest
from google.protobuf.json_format import MessageToDict

from baohuang.eventlog.codec import decode
from baohuang.eventlog.port import StoredEvent
from baohuang.gen.history.v1 import history_service_pb2 as pb
from baohuang.gen.rules.v1 import ruleset_pb2
from baohuang.gen.table.v1 import table_service_pb2 as table_pb
from baohuang.rpc.event_messages import event_from_proto
from baohuang.rules.events import EVENT_TYPES
from baohuang.rules.evolve import evolve
from baohuang.rules.state import Table, in_progress
from bench.random_player import Mood, RandomPlayer, chance_of
from history_service.serving import Caller
from tables.clients import Client, act, fresh, open_table
from tables.entitlement import check_entitled, guards_made
from tables.games import PLAYERS, Game, seated
from tables.replicas import Replica

VIEWERS: Final = (0, 1, 2, 3, 4, None)
CARD: Final = re.compile(r"(?<![A-Za-z0-9])(?:[3-9TJQKA2][shdc]|[BS]J\*)(?![A-Za-z0-9])")
TURNED_DOWN: Final = Mood(yields=0.7, yields_again=0.2, kicks=0.3)
"""The crown goes round, so that something is pasted to it."""
HIDING: Final = {name for name, kind in EVENT_TYPES.items() if "hidden" in {field.name for field in fields(kind)}}
RULESETS: Final = {"homy-qingdao": 2, "ourgame-simple": 1}
"""Hands of each, in which all that hides something occurs: tribute, and the crown with what is pasted to it."""


LOOKS: Final = {4, 30}
LEAVES: Final = 10
"""Moves before somebody gives his seat to the trustee, which is a ruling."""


class Truth:
    """What the log has of a table, and where its last finished hand ended."""

    def __init__(self, stored: list[StoredEvent]) -> None:
        self.stored = stored
        ends = [one.version for one in stored if one.type == "HandFinished"]
        self.closed = max(ends, default=0)
        self.tables: dict[int, Table] = {}
        table: Table | None = None
        for one in stored:
            table = evolve(table, decode(one.type, one.data))
            self.tables[one.version] = table

    def seeds(self) -> Iterator[str]:
        """Give the seeds that are not open yet."""
        for one in self.stored:
            event: Any = decode(one.type, one.data)
            if one.version > self.closed and one.type in {"SeedCommitted", "HandStarted"}:
                yield event.hidden.seed


async def test_nobody_is_told_what_is_not_his_by_any_method(service: Replica, spectator: Caller) -> None:
    """At moments all over a hand, and after it: each seat, a spectator, an operator.

    Before the hand is over no hidden part, card, seed, salt or request id but what the caller is entitled to; from its
    end on all of it. Operators see everything at once. Every type of event that hides something occurred.
    """
    occurred: set[str] = set()
    for ruleset, hands in RULESETS.items():
        players = [f"{player}-{ruleset}" for player in PLAYERS]
        game = await seated(service, ruleset, players)
        player = RandomPlayer(chance_of("history secrets", ruleset, 3), TURNED_DOWN)
        for _ in range(hands):
            await game.all_ready()
            await play_and_look(game, player, spectator)
        occurred |= {one.type for one in await game.events()}
    assert occurred >= HIDING


async def play_and_look(game: Game, player: RandomPlayer, spectator: Caller) -> None:
    """Play a hand to its end; look at its record early, in the middle, which shows all that was before, and then."""
    step = 0
    while in_progress(await game.table()):
        if step in LOOKS:
            await look(game, spectator)
        table = await game.table()
        seat, move = player.line(table)
        await game.clients[seat].call(act(game.table_id, move))
        if step == LEAVES and in_progress(await game.table()):
            leaving = table_pb.SetTrusteeshipRequest(request_id=fresh(), table_id=game.table_id, active=True)
            await game.clients[seat].call(leaving)
            leaving.request_id, leaving.active = fresh(), False
            await game.clients[seat].call(leaving)
        step += 1
    await look(game, spectator)


async def look(game: Game, spectator: Caller) -> None:
    """Ask everything as everybody, and check it."""
    truth, guards = Truth(list(await game.events())), await guards_made(game)
    for seat in VIEWERS:
        caller = spectator if seat is None else spectator.named(game.clients[seat].player)
        await check_events(game.table_id, caller, seat, truth, guards)
        await check_tables(game.table_id, caller, seat, truth)
        await check_rulings(game.table_id, caller, truth)
    whole = await spectator.operator.stream(pb.StreamEventsRequest(filter=pb.EventFilter(table_id=game.table_id)))
    for message, stored in zip(whole, truth.stored, strict=True):
        assert event_from_proto(message.event) == decode(stored.type, stored.data)
        assert (message.salt, message.request_id) == (stored.salt, stored.request_id)


async def check_events(
    table_id: str, caller: Caller, seat: int | None, truth: Truth, guards: dict[int, int | None]
) -> None:
    """Check what is listed and streamed: by table, and as the player's own."""
    sought = pb.EventFilter(table_id=table_id)
    listed = list((await caller.call(pb.ListEventsRequest(filter=sought, page_size=1000))).events)
    if seat in {0, None}:
        assert listed == await caller.stream(pb.StreamEventsRequest(filter=sought))
    assert [one.version for one in listed] == [one.version for one in truth.stored]
    own = await caller.stream(pb.StreamEventsRequest(filter=pb.EventFilter(player=caller.player)))
    assert bool(own) == (seat is not None)
    for one in own:
        assert one in listed
    for one, stored in zip(listed, truth.stored, strict=True):
        if one.version <= truth.closed:
            assert event_from_proto(one.event) == decode(stored.type, stored.data)
            assert (one.salt, one.request_id) == (stored.salt, stored.request_id)
        else:
            assert (one.salt, one.request_id) == (b"", "")
            ((kind, event),) = MessageToDict(one.event).items()
            check_entitled(seat, kind, event, guards.get(one.version))
            assert not any(seed in str(event) for seed in truth.seeds())


async def check_tables(table_id: str, caller: Caller, seat: int | None, truth: Truth) -> None:
    """Check the table at a version of each hand, and as it is now."""
    for version in {truth.stored[-1].version, truth.closed, truth.closed // 2} - {0}:
        view = (await caller.call(pb.GetTableAtRequest(table_id=table_id, version=version))).table
        true = truth.tables[version]
        covered = version > truth.closed
        assert not covered or not any(seed in str(view) for seed in truth.seeds())
        assert true.hand is None or view.HasField("viewer_seat") == (seat is not None)
        if true.hand is None or not in_progress(true):
            continue
        for other, held in enumerate(view.hand.hands):
            own = true.hand.hands[other]
            assert tuple(held.cards) == (("??",) * len(own) if covered and other != seat else own)
        roles = true.hand.roles
        if covered:
            assert set(view.seeds) <= {""}
            assert view.commitment.seed == ""
            shown = roles.public_guard is not None or roles.guard == seat
            assert not view.hand.roles.HasField("guard") or shown
            assert all(answer in {0, 1} for other, answer in enumerate(view.hand.answers) if other != seat)
        else:
            assert view.hand.roles.HasField("guard") == (roles.guard is not None)
            assert tuple(view.seeds) == true.seeds


async def check_rulings(table_id: str, caller: Caller, truth: Truth) -> None:
    """Check rulings and why they were made: no card in them; and hands as records, which are of finished ones only."""
    rulings = (await caller.call(pb.ListRulingsRequest(table_id=table_id))).rulings
    for one in rulings:
        explained = await caller.call(pb.ExplainRulingRequest(table_id=table_id, version=one.recorded.version))
        assert explained.judgement.follows
        assert CARD.findall(f"{one} {explained}") == []
        assert bool(one.recorded.salt) == (one.recorded.version <= truth.closed)
    last = truth.tables[truth.stored[-1].version]
    if last.hand is not None and in_progress(last):
        refused = await caller.refused(pb.ExportHandRequest(table_id=table_id, hand=last.hand.number))
        assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "HAND_IN_PROGRESS")
        assert CARD.findall(refused.message) == []


DELAY: Final = 5


@pytest.fixture
async def delayed(service: Replica) -> Game:
    """Give a hand in the middle of its play at a table with a delay for spectators."""
    clients = [Client(service.channel, player) for player in PLAYERS]
    request = open_table()
    request.options.MergeFrom(ruleset_pb2.Options(spectator_delay=DELAY))
    game = Game(service.log, (await clients[0].call(request)).table_id, clients)
    await game.seat_all()
    await game.all_ready()
    chance = chance_of("delayed")
    while sum(one.type == "CardsPlayed" for one in await game.events()) < 3 * DELAY:
        await game.step(chance)
    await game.clients[0].call(table_pb.SetTrusteeshipRequest(request_id=fresh(), table_id=game.table_id, active=True))
    return game


@pytest.mark.parametrize("order", [pb.ORDER_OLDEST_FIRST, pb.ORDER_NEWEST_FIRST])
async def test_a_delay_holds_in_the_record_too(
    service: Replica, delayed: Game, spectator: Caller, order: "pb.Order.ValueType"
) -> None:
    """Who does not play is shown no event, version, ruling or page that a watcher is not shown yet; players are."""
    shown = await shown_to_watchers(service, delayed)
    stored = await delayed.events()
    sought = pb.EventFilter(table_id=delayed.table_id)
    listed = await spectator.stream(pb.StreamEventsRequest(filter=sought, order=order))
    assert sorted(one.version for one in listed) == list(range(1, shown + 1))
    player = await spectator.named("an").stream(pb.StreamEventsRequest(filter=sought, order=order))
    assert len(player) == len(stored) > shown
    request = pb.ListEventsRequest(filter=sought, order=order, page_size=1)
    request.filter.after_position = stored[shown - 1].position
    page = await spectator.call(request)
    assert (list(page.events), page.next_page_token) == ([], "")


async def test_versions_that_are_not_shown_yet_are_not_there(
    service: Replica, delayed: Game, spectator: Caller
) -> None:
    """By version refused, by instant the last that is shown; the ruling is not listed, nor explained."""
    shown, stored = await shown_to_watchers(service, delayed), await delayed.events()
    table_id, last = delayed.table_id, stored[-1]
    for version in (shown + 1, last.version, last.version + 1):
        refused = await spectator.refused(pb.GetTableAtRequest(table_id=table_id, version=version))
        assert (refused.code, refused.reason) == (grpc.StatusCode.NOT_FOUND, "NO_SUCH_VERSION")
        refused = await spectator.refused(pb.ExplainRulingRequest(table_id=table_id, version=version))
        assert refused.reason == "NO_SUCH_VERSION"
    now = pb.GetTableAtRequest(table_id=table_id, instant="2999-01-01T00:00:00Z")
    assert (await spectator.call(now)).table.version == shown
    assert (await spectator.named("bo").call(now)).table.version == last.version
    assert not (await spectator.call(pb.ListRulingsRequest(table_id=table_id))).rulings
    assert (await spectator.named("bo").call(pb.ListRulingsRequest(table_id=table_id))).rulings


async def shown_to_watchers(service: Replica, game: Game) -> int:
    """Return the version that the table service shows spectators now."""
    view = await Client(service.channel, "spectator").call(table_pb.GetTableRequest(table_id=game.table_id))
    version: int = view.table.version
    return version
