"""Five bots and the service: whole hands over gRPC, whatever the ruleset and whatever happens to the service."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import Any

import grpc
import pytest

from baohuang.client import DevelopmentIdentity, Moment, MoveRefusedError, Receipt, TableClient
from baohuang.eventlog.chain import start, verify, verify_end
from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import StreamId
from baohuang.rules.commands import Move, Pass, Yield
from baohuang.rules.events import CardsDealt, HandFinished, TrusteeshipCancelled, TrusteeshipEntered
from baohuang.rules.redact import mask
from baohuang.rules.rulesets import BOUNDS, RULESETS, Options
from baohuang.rules.state import ALL_SEATS, Phase, PlayerId, Table, TableId, TableStatus
from client.in_process import HASTY, Service, running
from command_line.bots.errands import hand_is_closed
from command_line.bots.policy import choose
from command_line.bots.runner import Bot
from command_line.demo.checking import check, finish_of, recorded
from command_line.demo.stage import PLAYERS, Seen, play_one_hand
from table_service.seeds import DevelopmentSeeds

_PLAYERS = tuple(PlayerId(f"bot-{seat}") for seat in ALL_SEATS)


async def _hand_of(ruleset: str, seed: int) -> tuple[MemoryLog, Seen, Sequence[Moment]]:
    """Play a hand and return the log, what the watchers ended with, and all that the spectator was shown."""
    shown: list[Moment] = []
    async with running(seeds=DevelopmentSeeds(seed)) as service:
        async with service.client() as host:
            table_id = (await host.open_table(ruleset)).table_id
        seen = await play_one_hand(service.address, table_id, PLAYERS, 0.0, shown.append)
        return service.log, seen, shown


@pytest.mark.parametrize("ruleset", RULESETS)
async def test_a_hand_over_the_wire_holds_in_everything_that_can_be_checked(ruleset: str) -> None:
    """Chain, deal, points, and the states of all six watchers agree with the log (FAIR-1, TABLE-2)."""
    log, seen, shown = await _hand_of(ruleset, seed=1)
    history = await recorded(log, seen.table_id)
    check(history, seen)
    assert [moment.version for moment in shown] == list(range(shown[0].version, len(history) + 1))
    for moment in shown:
        assert moment.table == mask(history[moment.version - 1].table, None)


async def test_the_same_seed_gives_the_same_hand() -> None:
    """Deal and points follow from the seed, and another seed gives others."""
    deals = []
    for seed in (3, 3, 4):
        log, seen, _ = await _hand_of("ourgame-classic", seed)
        events = [one.event for one in await recorded(log, seen.table_id)]
        dealt = [event.hidden for event in events if isinstance(event, CardsDealt)]
        deals.append((dealt, [event.points for event in events if isinstance(event, HandFinished)]))
    assert deals[0] == deals[1]
    assert deals[0][0] != deals[2][0]


async def test_a_hand_that_is_dealt_anew_is_checked_deal_by_deal() -> None:
    """Nobody takes the crown of the first deal; the second has a commitment of its own, and both are recomputed."""

    def yields_at_first(table: Table, seat: int) -> Move:
        hand = table.hand
        first = hand is not None and hand.phase is Phase.CROWN and hand.deal == 1
        return Yield() if first else choose(table, seat)

    async with running() as service:
        table_id = await _opened(service)
        bots = await _play(service, table_id, ALL_SEATS, yields_at_first)
        async with service.client() as host, aclosing(host.watch(table_id)) as moments:
            spectator = await anext(moments)
        history = await recorded(service.log, table_id)
        check(history, Seen(table_id, spectator.version, spectator, tuple(bots)))
        assert len(finish_of(history).seeds) == 2


async def test_bots_play_on_when_the_service_is_restarted_under_them() -> None:
    """The service goes away and comes back on its log and port, several times in a hand; the hand is played once."""
    log, starts = MemoryLog(), 0
    async with running(log) as service:
        table_id = await _opened(service)
    bots = asyncio.create_task(_play(service, table_id, ALL_SEATS))
    while not bots.done():
        async with running(log, service.port) as again:
            starts += 1
            await _until_longer(again, table_id, bots, by=60)
    ends = await bots
    stored = await log.read_stream(StreamId(table_id))
    verify_end(verify(start(StreamId(table_id)), stored), await log.head(StreamId(table_id)))
    assert [event.type for event in stored].count("HandFinished") == 1
    assert {moment.hash for moment in ends} == {stored[-1].hash}
    assert starts > 2


async def test_a_move_refused_since_the_view_was_old_is_decided_anew() -> None:
    """A bot whose move is refused looks again: another connection of its player had already made that move."""
    async with running() as service, service.client(_PLAYERS[0]) as other:
        table_id = await _opened(service)
        async with grpc.aio.insecure_channel(service.address) as channel:
            client = _Preempted(channel, other)
            bot = Bot(client, 0)
            others = asyncio.create_task(_play(service, table_id, ALL_SEATS[1:]))
            await bot.take_place(table_id)
            end = await bot.play_hand(table_id)
            await others
        assert client.preempted > 1
        assert hand_is_closed(end.table)


async def test_a_policy_that_breaks_the_rules_is_told_so() -> None:
    """A move refused by the newest view is raised, not tried for ever."""
    async with running() as service:
        table_id = await _opened(service)
        with pytest.raises(MoveRefusedError, match="WRONG_PHASE"):
            await _play(service, table_id, ALL_SEATS, lambda _table, _seat: Pass())


async def test_a_bot_whose_time_ran_out_takes_its_seat_back() -> None:
    """Its first move is held up until the clock has given its seat to the trustee (TRUST-1); it plays on to the end."""
    async with running() as service:
        async with service.client() as host:
            options = Options(turn_seconds=BOUNDS["turn_seconds"][0], declare_seconds=BOUNDS["declare_seconds"][0])
            table_id = (await host.open_table("ourgame-simple", options)).table_id
        async with service.client() as host, grpc.aio.insecure_channel(service.address) as channel:
            late = Bot(_HeldUp(channel, host), 0)
            others = asyncio.create_task(_play(service, table_id, ALL_SEATS[1:]))
            await late.take_place(table_id)
            end = await late.play_hand(table_id)
            await others
        history = [one.event for one in await recorded(service.log, table_id)]
        rulings = [event for event in history if isinstance(event, TrusteeshipEntered | TrusteeshipCancelled)]
        assert [type(ruling) for ruling in rulings] == [TrusteeshipEntered, TrusteeshipCancelled]
        assert {ruling.seat for ruling in rulings} == {0}
        assert end.table.status is TableStatus.OPEN


class _HeldUp(TableClient):
    """The client of a player whose first move is not made before the trustee has his seat."""

    def __init__(self, channel: grpc.aio.Channel, spectator: TableClient) -> None:
        super().__init__(channel, DevelopmentIdentity(_PLAYERS[0]), HASTY)
        self._spectator = spectator
        self._held_up = False

    async def act(self, table_id: TableId, move: Move, **how: Any) -> Receipt:
        """Make the move; the first one too late."""
        if not self._held_up:
            self._held_up = True
            await self._until_trustee(table_id)
        return await super().act(table_id, move, **how)

    async def _until_trustee(self, table_id: TableId) -> None:
        async with aclosing(self._spectator.watch(table_id)) as moments:
            async for moment in moments:
                if moment.table.hand and moment.table.hand.trusteeships[0].active:
                    return


class _Preempted(TableClient):
    """The client of a player whose every tenth move his other client makes first."""

    def __init__(self, channel: grpc.aio.Channel, other: TableClient) -> None:
        super().__init__(channel, DevelopmentIdentity(_PLAYERS[0]), HASTY)
        self._other = other
        self._moves = 0
        self.preempted = 0

    async def act(self, table_id: TableId, move: Move, **how: Any) -> Receipt:
        """Make the move, or let the other client make it first."""
        self._moves += 1
        if self._moves % 10 == 0:
            self.preempted += 1
            await self._other.act(table_id, move)
        return await super().act(table_id, move, **how)


async def _opened(service: Service) -> TableId:
    async with service.client() as host:
        return (await host.open_table("ourgame-simple")).table_id


async def _play(
    service: Service, table_id: TableId, seats: Sequence[int], policy: Callable[[Table, int], Move] = choose
) -> list[Moment]:
    """Let a bot play a hand on each of the seats, and return what each saw last."""

    async def play(seat: int) -> Moment:
        async with service.client(_PLAYERS[seat]) as client:
            bot = Bot(client, seat, policy)
            await bot.take_place(table_id)
            return await bot.play_hand(table_id)

    return list(await asyncio.gather(*map(play, seats)))


async def _until_longer(service: Service, table_id: TableId, bots: "asyncio.Task[list[Moment]]", by: int) -> None:
    """Wait until the table's stream has `by` more events, or the bots are done."""
    wanted = len(await service.events(table_id)) + by
    async with service.client() as watcher:
        watching = asyncio.create_task(_watch_until(watcher, table_id, wanted))
        await asyncio.wait((watching, bots), return_when=asyncio.FIRST_COMPLETED)
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


async def _watch_until(client: TableClient, table_id: TableId, version: int) -> None:
    async with aclosing(client.watch(table_id)) as moments:
        async for moment in moments:
            if moment.version >= version:
                return
