"""ListEvents and StreamEvents: what is sought, in which order, page after page; and what is refused."""

from collections.abc import Sequence

import grpc
import pytest

from baohuang.eventlog.chain import digest_of, instant
from baohuang.eventlog.codec import decode
from baohuang.eventlog.port import StoredEvent
from baohuang.gen.history.v1 import history_service_pb2 as pb
from baohuang.rpc.event_messages import event_from_proto
from bench.random_player import chance_of
from history_service.serving import Caller
from tables.games import Game, seated, started
from tables.replicas import Replica

OLDEST, NEWEST = pb.ORDER_OLDEST_FIRST, pb.ORDER_NEWEST_FIRST


async def played(service: Replica, ruleset: str = "ourgame-simple") -> Game:
    """Play a hand at a new table."""
    game = await started(service, ruleset)
    await game.play(chance_of("history", ruleset))
    return game


async def pages(caller: Caller, request: pb.ListEventsRequest) -> list[list[pb.RecordedEvent]]:
    """Return all pages of a listing."""
    found = []
    while True:
        page = await caller.call(request)
        found.append(list(page.events))
        if not page.next_page_token:
            return found
        request.page_token = page.next_page_token


def check_open(message: pb.RecordedEvent, stored: StoredEvent) -> None:
    """Check an event of a hand that is over against what the log has of it, all of it."""
    assert event_from_proto(message.event) == decode(stored.type, stored.data)
    assert (message.position, message.table_id, message.version) == (stored.position, stored.stream_id, stored.version)
    assert (message.hash, message.hidden_digest, message.salt) == (stored.hash, digest_of(stored), stored.salt)
    assert (message.recorded_at, message.actor) == (instant(stored.recorded_at), stored.actor)
    assert (message.type, message.request_id) == (stored.type, stored.request_id)


async def test_a_finished_hand_is_open_to_everybody(service: Replica, spectator: Caller) -> None:
    """All of every event up to the end of the hand, with the salt and the request's id; behind it, neither."""
    game = await played(service)
    listed = await spectator.stream(pb.StreamEventsRequest(filter=pb.EventFilter(table_id=game.table_id)))
    stored = await game.events()
    ended = [one.type for one in stored].index("HandFinished")
    assert [one.version for one in listed] == [one.version for one in stored]
    for message, one in zip(listed[: ended + 1], stored, strict=False):
        check_open(message, one)
    assert [one.type for one in listed[ended + 1 :]] == ["SeedCommitted"]
    assert (listed[-1].salt, listed[-1].request_id) == (b"", "")
    assert not listed[-1].event.seed_committed.HasField("hidden")


@pytest.mark.parametrize("order", [OLDEST, NEWEST])
@pytest.mark.parametrize("size", [1, 7, 1000])
async def test_pages_are_the_stream_cut(
    service: Replica, spectator: Caller, order: "pb.Order.ValueType", size: int
) -> None:
    """Whatever the size and the order: no gap, nothing twice, no page after the last."""
    game = await started(service)
    wanted = pb.EventFilter(table_id=game.table_id)
    whole = await spectator.stream(pb.StreamEventsRequest(filter=wanted, order=order))
    found = await pages(spectator, pb.ListEventsRequest(filter=wanted, order=order, page_size=size))
    assert [one for page in found for one in page] == whole
    assert all(len(page) == size for page in found[:-1])
    assert 0 < len(found[-1]) <= size
    assert [one.version for one in whole] == sorted((one.version for one in whole), reverse=order == NEWEST)


async def test_every_filter(service: Replica, spectator: Caller) -> None:
    """Each alone finds what it says, and all set are met."""
    game = await played(service)
    other = await seated(service, players=("fu", "ge", "hu", "ji", "ke"))
    everything = await spectator.operator.stream(pb.StreamEventsRequest())
    assert {one.table_id for one in everything} == {game.table_id, other.table_id}

    async def found(**wanted: object) -> Sequence[pb.RecordedEvent]:
        request = pb.StreamEventsRequest(filter=pb.EventFilter(**wanted))  # type: ignore[arg-type]
        return await spectator.operator.stream(request)

    middle = everything[len(everything) // 2]
    assert await found(table_id=other.table_id) == [one for one in everything if one.table_id == other.table_id]
    assert await found(types=["PlayerSat", "Passed"]) == [
        one for one in everything if one.type in {"PlayerSat", "Passed"}
    ]
    assert await found(player="bo") == [one for one in everything if "bo" in {one.actor, named(one)}]
    assert await found(after_position=middle.position) == everything[middle.position :]
    assert await found(before_position=middle.position) == everything[: middle.position - 1]
    since = [one for one in everything if one.recorded_at >= middle.recorded_at]
    assert await found(since=middle.recorded_at) == since
    assert await found(until=middle.recorded_at) == [one for one in everything if one not in since]
    assert await found(table_id=game.table_id, player="bo", types=["PlayerSat"]) == [
        one for one in everything if one.type == "PlayerSat" and one.actor == "bo"
    ]
    assert await found(rulings=True) == []


def named(recorded: pb.RecordedEvent) -> str:
    """Return the player that an event names, "" if it names none."""
    player: str = getattr(getattr(recorded.event, str(recorded.event.WhichOneof("event"))), "player", "")
    return player


BAD_FILTERS = [
    ({"player": "an bo"}, "filter.player"),
    ({"player": "a\0"}, "filter.player"),
    ({"types": ["CardsPlayed", "CardPlayed"]}, "filter.types[1]"),
    ({"types": ["Passed"] * 21}, "filter.types"),
    ({"since": "yesterday"}, "filter.since"),
    ({"since": "2026-05-04"}, "filter.since"),
    ({"until": "2026-05-04T12:00:00"}, "filter.until"),
    ({"until": "2026-13-04T12:00:00Z"}, "filter.until"),
    ({"until": "0001-01-01T00:00:00+23:00"}, "filter.until"),
    ({"after_position": -1}, "filter.after_position"),
    ({"before_position": -1}, "filter.before_position"),
]


@pytest.mark.parametrize(("wanted", "field"), BAD_FILTERS)
async def test_a_bad_filter_is_named(spectator: Caller, wanted: dict[str, object], field: str) -> None:
    """By its path, alike for both methods, whoever asks."""
    sought = pb.EventFilter(**wanted)  # type: ignore[arg-type]
    for request in (pb.ListEventsRequest(filter=sought), pb.StreamEventsRequest(filter=sought)):
        refused = await spectator.operator.refused(request)
        assert (refused.code, refused.fields) == (grpc.StatusCode.INVALID_ARGUMENT, (field,))


async def test_a_page_token_belongs_to_its_listing(service: Replica, spectator: Caller) -> None:
    """With another filter or order it is refused, and so is what is no token; another page size is taken."""
    game = await seated(service)
    wanted = pb.EventFilter(table_id=game.table_id)
    token = (await spectator.call(pb.ListEventsRequest(filter=wanted, page_size=2))).next_page_token
    assert token
    assert (await spectator.call(pb.ListEventsRequest(filter=wanted, page_size=3, page_token=token))).events
    for request in (
        pb.ListEventsRequest(filter=wanted, page_token=token, order=NEWEST),
        pb.ListEventsRequest(filter=pb.EventFilter(table_id=game.table_id, rulings=True), page_token=token),
        *(pb.ListEventsRequest(filter=wanted, page_token=no_token) for no_token in ("what", "a\0")),
    ):
        assert (await spectator.refused(request)).fields == ("page_token",)
    for request, field in (
        (pb.ListEventsRequest(filter=wanted, page_size=-1), "page_size"),
        (pb.ListEventsRequest(filter=wanted, order=7), "order"),  # type: ignore[arg-type]
    ):
        assert (await spectator.refused(request)).fields == (field,)
