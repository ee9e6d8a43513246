"""Playing over one stream: the commands, refusals and moments of the calls, whatever becomes of the stream."""

import asyncio
from contextlib import AsyncExitStack, aclosing
from random import Random

import pytest

from baohuang.client import (
    DevelopmentIdentity,
    MalformedError,
    Moment,
    MoveRefusedError,
    NotFoundError,
    NotKnownError,
    Patience,
    Playing,
    StaleError,
    UnreachableError,
    connect,
)
from baohuang.embedded.ports import free_port
from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import Append, LogBusy, Outcome, RequestId, Version
from baohuang.rpc.reason import Reason
from baohuang.rpc.settings import ServerSettings
from baohuang.rules.commands import Pass
from baohuang.rules.redact import mask
from baohuang.rules.rulesets import Options
from baohuang.rules.state import PlayerId, Table, TableId, in_progress
from bench.random_player import chance_of, choose
from client.in_process import ALICE, HASTY, Service, running
from eventually import eventually
from rpc.wire import wire_to

_PLAYERS = tuple(map(PlayerId, ("an", "bo", "cai", "du", "en")))
_UNHURRIED = Options(turn_seconds=300, declare_seconds=300)


async def test_receipts_and_refusals_are_those_of_the_calls() -> None:
    """Receipts are the log's heads; refusals come as the same exceptions with all they carry; the stream goes on."""
    async with running() as service, service.client() as alice, alice.play() as playing:
        opened = await playing.open_table("ourgame-simple")
        for receipt in (
            opened,
            await playing.sit_down(opened.table_id, 3),
            await playing.set_ready(opened.table_id, ready=True, entropy="dice"),
        ):
            stored = (await service.events(opened.table_id))[receipt.version - 1]
            assert (receipt.table_id, receipt.hash) == (opened.table_id, stored.hash)
        with pytest.raises(MoveRefusedError) as refused:
            await playing.act(opened.table_id, Pass())
        with pytest.raises(MoveRefusedError) as called:
            await alice.act(opened.table_id, Pass())
        assert vars(refused.value) == vars(called.value)
        with pytest.raises(StaleError):
            await playing.act(opened.table_id, Pass(), expected_version=Version(99))
        with pytest.raises(MalformedError) as malformed:
            await playing.sit_down(opened.table_id, 9)
        assert [one.field for one in malformed.value.violations] == ["seat"]
        with pytest.raises(NotFoundError):
            await playing.stand_up(TableId("no-such-table"))
        await playing.stand_up(opened.table_id)


async def test_the_same_request_id_gives_the_first_receipt() -> None:
    """Over the stream, by a call, and over the stream again."""
    async with running() as service, service.client() as alice, alice.play() as playing:
        opened = await playing.open_table("ourgame-simple", request_id=RequestId("one"))
        assert await alice.open_table("ourgame-simple", request_id=RequestId("one")) == opened
        assert await playing.open_table("ourgame-simple", request_id=RequestId("one")) == opened


async def _play_hand(playing: Playing, table_id: TableId, seat: int, dice: Random) -> Table:
    """Sit, get ready, play by what is watched; return the table as it was shown at the end of the hand."""
    past = (await playing.sit_down(table_id, seat)).version
    async with aclosing(playing.watch(table_id)) as moments:
        await playing.set_ready(table_id, ready=True)
        async for moment in moments:
            table = moment.table
            if table.hands_played and table.commitment:
                return table
            if in_progress(table) and seat in moment.to_act and moment.version >= past:
                past = (await playing.act(table_id, choose(table, seat, dice))).version
    raise AssertionError("a watch has no end of its own")


async def test_a_hand_is_played_over_streams() -> None:
    """Five players, a stream each: every link of the chain checked, every view that of the seat."""
    async with running() as service, AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(service.client(player)) for player in _PLAYERS]
        streams = [await stack.enter_async_context(client.play()) for client in clients]
        table_id = (await streams[0].open_table("ourgame-simple", _UNHURRIED)).table_id
        hands = (_play_hand(stream, table_id, seat, chance_of(seat)) for seat, stream in enumerate(streams))
        views = await asyncio.wait_for(asyncio.gather(*hands), 60)
        table = await service.table(table_id)
        assert [mask(view, seat) for seat, view in enumerate(views)] == [mask(table, seat) for seat in range(5)]


class _HeldUp(MemoryLog):
    """While `held_up` takes no append: as a log whose database is gone."""

    def __init__(self) -> None:
        super().__init__()
        self.held_up = False
        self.asked = asyncio.Event()

    async def append(self, command: Append) -> Outcome:
        """See `EventLog.append`."""
        if self.held_up:
            self.asked.set()
            raise LogBusy("held up")
        return await super().append(command)


async def test_it_outlives_the_service() -> None:
    """The service goes and another comes on its port: the command under way is answered, the watch misses nothing."""
    log = _HeldUp()
    port = free_port()
    moments: list[Moment] = []
    async with connect(f"127.0.0.1:{port}", DevelopmentIdentity(ALICE), HASTY) as alice, alice.play() as playing:
        async with running(log, port):
            table_id = (await playing.open_table("ourgame-simple")).table_id
            watching = asyncio.create_task(_take(playing, table_id, moments, 4))
            await eventually(lambda: _has(moments, 1))
            log.held_up = True
            sitting = asyncio.create_task(playing.sit_down(table_id, 2))
            await log.asked.wait()
        log.held_up = False
        async with running(log, port):
            receipt = await sitting
            await playing.set_ready(table_id, ready=True)
            await asyncio.wait_for(watching, 10)
    assert receipt.version == 3
    assert [moment.version for moment in moments] == [2, 3, 4]


async def test_what_is_counted_still_of_a_lost_connection_is_waited_for() -> None:
    """The service hears nothing of the loss and counts the old stream and its watch: commands and watch go on after."""
    settings = ServerSettings(insecure_dev=True, drain_grace_seconds=0.5, max_streams_per_player=2)
    moments: list[Moment] = []
    async with (
        running(settings=settings) as service,
        wire_to(service.address) as (wire, address),
        connect(address, DevelopmentIdentity(ALICE), HASTY) as alice,
        alice.play() as playing,
    ):
        table_id = (await playing.open_table("ourgame-simple")).table_id
        watching = asyncio.create_task(_take(playing, table_id, moments, 4))
        await eventually(lambda: _has(moments, 1))
        wire.lose_clients()
        sitting = asyncio.create_task(playing.sit_down(table_id, 2))
        await eventually(lambda: _has_too_many(service))
        assert not sitting.done()
        wire.let_server_know()
        await asyncio.wait_for(sitting, 10)
        await playing.set_ready(table_id, ready=True)
        await asyncio.wait_for(watching, 10)
    assert [moment.version for moment in moments] == [2, 3, 4]


async def _has_too_many(service: Service) -> bool:
    return any(counts.refused[Reason.TOO_MANY_STREAMS] for counts in service.server._interceptor.counts.values())


async def _take(playing: Playing, table_id: TableId, moments: list[Moment], version: int) -> None:
    async with aclosing(playing.watch(table_id)) as watch:
        async for moment in watch:
            moments.append(moment)
            if moment.version >= version:
                return


async def _has(moments: list[Moment], number: int) -> bool:
    return len(moments) >= number


async def test_tables_are_watched_together_and_apart() -> None:
    """Two tables over one stream; what one watch has had enough of, the other goes on with."""
    async with running() as service, service.client() as alice, alice.play() as playing:
        one, other = [(await playing.open_table("ourgame-simple")).table_id for _ in range(2)]
        seen: tuple[list[Moment], list[Moment]] = ([], [])
        watching = asyncio.create_task(_take(playing, other, seen[1], 4))
        await _take(playing, one, seen[0], 2)
        await playing.sit_down(one, 0)
        await playing.sit_down(other, 0)
        await playing.set_ready(other, ready=True)
        await asyncio.wait_for(watching, 10)
        assert [[moment.version for moment in moments] for moments in seen] == [[2], [2, 3, 4]]


async def test_a_watch_that_is_refused_says_why() -> None:
    """No such table: NotFoundError, and the stream goes on."""
    async with running() as service, service.client() as alice, alice.play() as playing:
        with pytest.raises(NotFoundError):
            await anext(playing.watch(TableId("01980000-0000-7000-8000-000000000000")))
        await playing.open_table("ourgame-simple")


async def test_what_nobody_answers_is_unreachable() -> None:
    """Without a service commands and watches raise UnreachableError, with the command's request id."""
    patience = Patience(attempts=2, first_wait_seconds=0.01, longest_wait_seconds=0.02)
    nowhere = connect(f"127.0.0.1:{free_port()}", DevelopmentIdentity(ALICE), patience)
    async with nowhere as alice, alice.play() as playing:
        with pytest.raises(UnreachableError) as caught:
            await playing.open_table("ourgame-simple", request_id=RequestId("mine"))
        assert caught.value.request_id == "mine"
        with pytest.raises(UnreachableError):
            await anext(playing.watch(TableId("t")))
        with pytest.raises(UnreachableError):
            await playing.open_table("ourgame-simple")


class _Nobody:
    """Credentials of nobody."""

    def metadata(self) -> tuple[tuple[str, str], ...]:
        """Say nothing."""
        return ()


async def test_who_is_not_known_is_told_so() -> None:
    """The stream's own refusal is that of every command."""
    async with running() as service, connect(service.address, _Nobody(), HASTY) as nobody, nobody.play() as playing:
        with pytest.raises(NotKnownError):
            await playing.open_table("ourgame-simple")
