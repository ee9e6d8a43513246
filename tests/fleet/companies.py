"""Tables of five bots, each on a connection of his own, and what became of their hands."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import asyncpg

from baohuang.client import DevelopmentIdentity, Patience, TableClient
from baohuang.client.calls import channel_to
from baohuang.rules.rulesets import RULESETS
from baohuang.rules.state import PlayerId, TableId
from command_line.bots.runner import Bot

PATIENCE = Patience(call_seconds=20.0)
"""More for one attempt than clients have as a rule, for slow machines."""


@dataclass(frozen=True, slots=True)
class Company:
    """A table and its bots, by seat."""

    table_id: TableId
    bots: Sequence[Bot]

    async def play(self) -> None:
        """Play one hand to its end."""
        for bot in self.bots:
            await bot.take_place(self.table_id)
        await self.go_on()

    async def go_on(self) -> None:
        """Play the hand that there is to its end."""
        async with asyncio.TaskGroup() as tasks:
            for bot in self.bots:
                tasks.create_task(bot.play_hand(self.table_id))


async def five(stack: AsyncExitStack, address: str, players: Sequence[str]) -> Sequence[Bot]:
    """Connect five players, each with a connection of his own."""
    channels = [await stack.enter_async_context(channel_to(address)) for _ in players]
    named = zip(channels, players, strict=True)
    clients = [TableClient(channel, DevelopmentIdentity(PlayerId(one)), PATIENCE) for channel, one in named]
    return [Bot(client, seat) for seat, client in enumerate(clients)]


async def companies(stack: AsyncExitStack, address: str, tables: int, name: str) -> Sequence[Company]:
    """Open tables of all rulesets in turn, with five bots each."""
    rulesets = sorted(RULESETS)
    made = []
    for number in range(tables):
        bots = await five(stack, address, [f"{name}{number}-{seat}" for seat in range(5)])
        opened = await bots[0].client.open_table(rulesets[number % len(rulesets)])
        made.append(Company(opened.table_id, bots))
    return made


async def play_all(several: Sequence[Company]) -> None:
    """Play a hand at each table, at once."""
    async with asyncio.TaskGroup() as tasks:
        for company in several:
            tasks.create_task(company.play())


async def check_unharmed(dsn: str, hands: int) -> None:
    """Check that so many hands were played to their end, and nobody was fined or put under a trustee."""
    admin = await asyncpg.connect(dsn)
    rows = await admin.fetch("select type, count(*) as times from eventlog.events group by type")
    await admin.close()
    counted = {row["type"]: row["times"] for row in rows}
    assert (counted["HandStarted"], counted["HandFinished"]) == (hands, hands)
    assert not {"PlayerFined", "TrusteeshipEntered", "HandVoided"} & counted.keys()


async def fetched(dsn: str, query: str, *arguments: object) -> Any:
    """Return the value that a query finds."""
    admin = await asyncpg.connect(dsn)
    try:
        return await admin.fetchval(query, *arguments)
    finally:
        await admin.close()
