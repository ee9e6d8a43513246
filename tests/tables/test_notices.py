"""Postings of the ledger, told to watchers beside the table's versions, when each of them may know."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from baohuang.eventlog.codec import decode
from baohuang.gen.rules.v1 import ruleset_pb2
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.rpc.errors import Refusal
from baohuang.rules.events import HandFinished, PlayerFined
from baohuang.rules.state import FineReason, Instant, Phase, PlayerId, TableId
from baohuang.scoring.events import CODEC, Booked, FinePosted, HandScored, Posted, PostingNumber
from baohuang.scoring.messages import message_of
from bench.random_player import chance_of
from eventually import eventually
from scoring_service.scores import posted
from scoring_service.settling import Settling
from table_service.watch.notices import WAITING, Notice, Notices
from table_service.watch.postings import Postings
from table_service.watch.subscription import StreamLimits
from tables.clients import Client, fresh
from tables.games import PLAYERS, Game, started
from tables.play_streams import playing, watch
from tables.replicas import Replica
from tables.test_subscription import subscription
from tables.viewers import Viewer

AT = Instant("2026-11-30T08:05:09.000123Z")
REASON = FineReason.FORFEITED


def body_of(posting: Posted) -> bytes:
    """Return the body of the message that the ledger publishes for a posting."""
    kind, data = CODEC.encode(posting)
    return message_of(posting.posting, posting.table_id, kind, data).body


async def postings_of(game: Game) -> list[Booked]:
    """Return the postings that the table's events lead to."""
    found: list[Booked] = []
    for stored in await game.events():
        event = decode(stored.type, stored.data)
        if isinstance(event, HandFinished | PlayerFined):
            settling = Settling(TableId(game.table_id), stored.version, getattr(event, "decided_at", AT), event)
            found.append(posted(PostingNumber(len(found) + 1), settling))
    return found


def hear(service: Replica, posting: Posted, table_id: str | None = None) -> None:
    """Have the replica hear of a posting, as the ledger publishes it."""
    Postings(service.hub).hear(TableId(table_id or posting.table_id), body_of(posting))


def kinds(viewer: Viewer) -> list[str]:
    """Return what a viewer received, by kind."""
    return [str(one.WhichOneof("message")) for one in viewer.received]


async def watching(client: Client, game: Game, version: int = 0) -> tuple[Viewer, "asyncio.Task[None]"]:
    """Begin to watch, from a version on."""
    viewer = Viewer(client, game.table_id, version, await game.table() if version else None)
    task = asyncio.create_task(viewer.watch(lambda: False))
    await viewer.opened.wait()
    return viewer, task


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""

    async def look() -> bool:
        return holds()

    await eventually(look)


async def test_who_is_kept_behind_hears_of_a_fine_when_he_sees_it(service: Replica) -> None:
    """A spectator some plays behind gets the notice after the `PlayerFined` it is of; a player at once, once.

    Nothing else is sent to him meanwhile, not even a sign of life.
    """
    chance, options = chance_of("fined"), ruleset_pb2.Options(spectator_delay=3, turn_seconds=300, declare_seconds=300)
    clients = [Client(service.channel, player) for player in PLAYERS]
    opening = pb.OpenTableRequest(request_id=fresh(), ruleset="ourgame-simple", options=options)
    game = Game(service.log, (await clients[0].call(opening)).table_id, clients)
    await game.seat_all()
    spectator, spectating = await watching(Client(service.channel, "spectator"), game)
    player, watches = await watching(clients[0], game)
    await game.all_ready()
    await game.reach(Phase.PLAY, chance)
    await clients[2].call(pb.ForfeitSeatRequest(request_id=fresh(), table_id=game.table_id))
    (fine,) = await postings_of(game)
    assert isinstance(fine, FinePosted)
    hear(service, fine)
    hear(service, fine)
    await until(lambda: "fine_posted" in kinds(player))
    while "fine_posted" not in kinds(spectator):
        assert spectator.version < fine.version
        await game.step(chance)
        if await _is_shown(service, game, fine.version):
            await until(lambda: "fine_posted" in kinds(spectator))
    assert spectator.version >= fine.version
    at = kinds(spectator).index("fine_posted")
    assert [one.update.version for one in spectator.received[:at] if one.HasField("update")][-1] >= fine.version
    assert kinds(player).count("fine_posted") == 1
    assert {"heartbeat"}.isdisjoint(kinds(spectator))
    assert player.received[kinds(player).index("fine_posted")].fine_posted.points == fine.points
    for task in (spectating, watches):
        task.cancel()


async def _is_shown(service: Replica, game: Game, version: int) -> bool:
    """Tell whether a spectator is shown that version of the table by now."""
    view = await Client(service.channel, "another").call(pb.GetTableRequest(table_id=game.table_id))
    return bool(view.table.version >= version)


async def test_a_notice_that_is_ahead_of_the_table_waits(service: Replica) -> None:
    """A replica that hears of a score before it has read the end of the hand tells its watchers after it."""
    game = await started(service)
    viewer, task = await watching(Client(service.channel, "watcher"), game)
    ahead = FinePosted(
        PostingNumber(1), TableId(game.table_id), (await game.head()).version + 2, AT, PlayerId("an"), -20, REASON, "F"
    )
    hear(service, ahead)
    chance = chance_of("ahead")
    while (await game.head()).version < ahead.version:
        assert "fine_posted" not in kinds(viewer)
        await game.step(chance)
    await until(lambda: "fine_posted" in kinds(viewer))
    at = kinds(viewer).index("fine_posted")
    assert max(one.update.version for one in viewer.received[:at] if one.HasField("update")) >= ahead.version
    task.cancel()


async def test_the_score_of_a_hand_comes_over_both_kinds_of_streams(service: Replica) -> None:
    """After the hand's end, whole, and without a version: a Play stream that is sent away is at the table's version."""
    game = await started(service)
    viewer, task = await watching(Client(service.channel, "watcher"), game)
    async with playing(service.channel, "an") as stream:
        await stream.send(watch(game.table_id))
        await stream.read_until(lambda: game.table_id in stream.heard)
        await game.play(chance_of("scored"))
        (score,) = [one for one in await postings_of(game) if isinstance(one, HandScored)]
        hear(service, score)
        await until(lambda: "hand_scored" in kinds(viewer))
        heard = stream.heard[game.table_id]
        await stream.read_until(lambda: heard[-1].HasField("hand_scored"))
        assert heard[-1].hand_scored == viewer.received[kinds(viewer).index("hand_scored")].hand_scored
        service.hub.drain()
        await stream.read_until(lambda: stream.reconnect is not None)
        assert stream.reconnect is not None
        assert [one.version for one in stream.reconnect.tables] == [(await game.head()).version]
    await task
    assert [seat.points for seat in viewer.received[kinds(viewer).index("hand_scored")].hand_scored.seats] == [
        seat.points for seat in score.seats
    ]


async def test_who_comes_after_the_end_hears_of_the_last_hand_only(service: Replica) -> None:
    """A stream that begins, or resumes, once a hand is over gets its score if that comes later; an older one's not."""
    game = await started(service)
    await game.play(chance_of("late"))
    (score,) = [one for one in await postings_of(game) if isinstance(one, HandScored)]
    older = replace(score, hand=score.hand + 1, posting=PostingNumber(1))
    newer = replace(score, posting=PostingNumber(2))
    streams = [
        await watching(Client(service.channel, "fresh"), game),
        await watching(Client(service.channel, "back"), game, (await game.head()).version),
    ]
    hear(service, older)
    hear(service, newer)
    for viewer, task in streams:
        await until(lambda v=viewer: "hand_scored" in kinds(v))  # type: ignore[misc] # bound now
        assert [one.hand_scored.posting for one in viewer.received if one.HasField("hand_scored")] == [2]
        task.cancel()


async def test_what_is_no_posting_is_told_nobody(service: Replica) -> None:
    """Damaged bytes, another table's posting under this one's subject: logged or ignored, and the next one is told."""
    game = await started(service)
    viewer, task = await watching(Client(service.channel, "watcher"), game)
    await game.play(chance_of("damaged"))
    (score,) = [one for one in await postings_of(game) if isinstance(one, HandScored)]
    body = body_of(score)
    beyond = body.replace(f'"posting":{score.posting}'.encode(), f'"posting":{2**40}'.encode())
    assert beyond != body
    for damaged in (
        beyond,
        b"",
        b"{}",
        b"\xff\xfe",
        body[:-1],
        body.replace(b"HandScored", b"HandScared"),
        b"[" * 9999,
    ):
        Postings(service.hub).hear(TableId(game.table_id), damaged)
    hear(service, replace(score, table_id=TableId("another"), posting=PostingNumber(7)), game.table_id)
    hear(service, score)
    await until(lambda: "hand_scored" in kinds(viewer))
    assert [one.hand_scored.posting for one in viewer.received if one.HasField("hand_scored")] == [score.posting]
    task.cancel()


async def test_notices_are_few_and_cut_nobody() -> None:
    """However many come to a reader who stands still, the newest few wait, one encoding for all, and he is not cut."""
    cuts: list[Refusal] = []
    limits = StreamLimits(heartbeat_seconds=3600.0, stuck_seconds=3600.0)
    one, other = subscription(cuts, limits), subscription(cuts, limits)
    for each in (one, other):
        each.notices.begin(0, 0)
    for number in range(1, 10 * WAITING):
        notice = Notice(number, 1, 1, str(number).encode())
        one.notify(notice)
        other.notify(notice)
    assert not cuts
    ones, others = one.notices.take(1), other.notices.take(1)
    assert [notice.number for notice in ones] == list(range(9 * WAITING, 10 * WAITING))
    assert all(left.message is right.message for left, right in zip(ones, others, strict=True))
    for each in (one, other):
        each.close()


@pytest.mark.parametrize("shown", [3, 5, 9])
def test_what_comes_before_the_stream_has_begun_is_kept_if_it_is_of_its_time(shown: int) -> None:
    """Offered while the opening is read: told later if it is of a later version, or of the last hand; else never."""
    notices = Notices()
    for number, version, hand in ((1, 4, 1), (2, 5, 0), (3, 6, 2), (4, 8, 0)):
        notices.offer(Notice(number, version, hand, b""))
    assert not notices.due
    notices.begin(5, 1)
    assert [one.number for one in notices.take(shown)] == {3: [], 5: [1], 9: [1, 3, 4]}[shown]
