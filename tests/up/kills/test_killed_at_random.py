"""All services, NATS and PostgreSQL are killed at random while many tables play: nothing is lost, nothing is twice."""

import asyncio
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from baohuang.client import DevelopmentIdentity, MatchmakingClient, Ticket, TicketState
from baohuang.client.calls import channel_to
from baohuang.eventlog.postgres.log import open_log
from baohuang.rules.rulesets import Options
from baohuang.rules.state import PlayerId
from eventually import eventually
from fleet.settled import all_settled, check_against_recomputation
from up.kills.checks import SETTLED_SECONDS, check_logs, check_place, check_points
from up.kills.killer import Kill, Killer
from up.kills.players import (
    Kind,
    NotingClient,
    People,
    Player,
    people,
    queued,
    sit_by_themselves,
    sit_together,
)
from up.kills.records import Record
from up.kills.scale import SITTINGS, Scale
from up.kills.victims import Victims
from up.running import Up, dsn_of, up

REPLICAS: Final = 2
QUICK: Final = {
    "BAOHUANG_FILL_WITH_BOTS_AFTER": "1",
    "BAOHUANG_BOTS_THINK_SECONDS": "0",
    "BAOHUANG_TICKET_LIFETIME_SECONDS": "7200",
}
LONELY: Final = Kind("ourgame-simple", (1,), Options(turn_seconds=31))
"""A queue in which nobody else is."""
WHILE_QUEUEING: Final = ("table", "matchmaking", "rating", "nats", "postgres")


@dataclass(frozen=True, slots=True)
class Waiter:
    """Somebody who queued at the beginning and finds nobody to play with."""

    player: Player
    ticket: Ticket
    since: float


async def test_killed_at_random(data: Path, scale: Scale, logs_kept: None) -> None:
    """Bots play many hands at many tables while each service, nats-server and PostgreSQL are killed at random.

    Every hand is scored once and rated once, as the log has it; no acknowledged command is missing; every chain holds;
    nobody is fined, or played by a trustee, for the outages; all accounts sum to zero; everybody sits or is queued.
    """
    print(f"seed {scale.seed}: {scale.tables} tables, {scale.hands} hands each, {scale.kills} kills")
    options = ("--insecure-dev", "--table-replicas", str(REPLICAS))
    async with up(data, *options, environment=QUICK) as started, AsyncExitStack() as stack:
        await started.ready()
        crowd = await people(stack, started.address, started.address_of("matchmaking"), scale)
        killer = Killer(Victims(started.process.pid, data, REPLICAS), scale, lambda: len(crowd.notes))
        async with started.watched():
            waiter = await waiting(stack, started)
            await play_and_kill(crowd, killer, scale)
            tickets = await queue_again(crowd, killer, scale)
            killer.tell("all played, and queued again")
            await eventually(killer.all_run, within=60)
            await check(started, crowd, scale)
            killer.tell("all checked but places")
            await check_places(crowd, tickets, waiter)
            check_logs(data)
        killer.tell(started.printed)


async def waiting(stack: AsyncExitStack, started: Up) -> Waiter:
    """Have somebody wait for a seat from the beginning."""
    name = PlayerId("lonely")
    tables = await stack.enter_async_context(channel_to(started.address))
    queues = await stack.enter_async_context(channel_to(started.address_of("matchmaking")))
    player = Player(name, NotingClient(tables, name, []), MatchmakingClient(queues, DevelopmentIdentity(name)))
    (ticket,) = await queued([player], LONELY)
    return Waiter(player, ticket, time.monotonic())


async def play_and_kill(crowd: People, killer: Killer, scale: Scale) -> None:
    """Play all hands, and kill all that is to be killed meanwhile."""
    meetings = {kind: asyncio.Barrier(crowd.count(kind)) for kind, _ in crowd.companies}
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(killer.run())
        for kind, company in crowd.companies:
            tasks.create_task(play_on(kind, company, scale, meetings[kind]))


async def play_on(kind: Kind, company: list[Player], scale: Scale, meeting: asyncio.Barrier) -> None:
    """Have friends play sitting after sitting; all who queue as they do begin the next one together."""
    sit = sit_together if kind.queues else sit_by_themselves
    for sitting in range(SITTINGS):
        await sit(company, kind, scale.hands_of(sitting))
        await meeting.wait()


async def queue_again(crowd: People, killer: Killer, scale: Scale) -> dict[PlayerId, Ticket]:
    """Have all queue again while something is killed once more, and wait for their seats."""
    victim = Kill(scale.chance("while queueing").choice(WHILE_QUEUEING), 0)
    async with asyncio.TaskGroup() as tasks:
        queueing = [(company, tasks.create_task(queued(company, kind))) for kind, company in crowd.companies]
        tasks.create_task(killer.kill(victim, scale.kills))
    pairs = [pair for company, tickets in queueing for pair in zip(company, tickets.result(), strict=True)]
    await asyncio.gather(*(player.seated(ticket) for player, ticket in pairs))
    return {player.name: ticket for player, ticket in pairs}


async def check(started: Up, crowd: People, scale: Scale) -> None:
    """Hold the log, the ledger and the ratings against each other and against what the players were told."""
    record = Record()
    async with open_log(dsn_of(started)) as log:
        await record.read(log)
    noted = record.check_noted(crowd.notes)
    record.check_rulings({player.name: player.fined for player in crowd.all})
    assert len(record.finished) == scale.all_hands
    assert record.playing == {}
    await all_settled(dsn_of(started), SETTLED_SECONDS)
    await check_against_recomputation(dsn_of(started))
    await check_points(started.address_of, record)
    print(
        f"{record.position} events in {len(record.tips)} streams, {noted} acknowledged commands, "
        f"{len(record.finished)} hands, {len(record.fines)} fines, {record.extensions} turns extended"
    )


async def check_places(crowd: People, tickets: dict[PlayerId, Ticket], waiter: Waiter) -> None:
    """Check that everybody sits at one table or waits in the queue, who waited longest with all of his wait."""
    for player in crowd.all:
        assert await check_place(player, tickets[player.name]) is TicketState.MATCHED
    seen = await check_place_of_waiter(waiter)
    assert seen.waiting is not None
    assert seen.waiting.waited_ms >= 1000 * (time.monotonic() - waiter.since) - 5_000


async def check_place_of_waiter(waiter: Waiter) -> Ticket:
    assert await check_place(waiter.player, waiter.ticket) is TicketState.QUEUED
    async for seen in waiter.player.queues.watch(waiter.ticket.ticket_id):
        return seen
    raise AssertionError("a watch begins with the ticket as it is")
