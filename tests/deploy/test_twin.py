"""The compose file, run: by processes where containers cannot be, told what the containers are."""

import signal
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from subprocess import run
from typing import Final

import pytest

from baohuang.client import (
    NotFoundError,
    account_of,
    connect,
    connect_history,
    connect_matchmaking,
    connect_rating,
    connect_scoring,
)
from baohuang.eventlog.port import StreamId
from baohuang.history.sought import EventsSought
from baohuang.rules.rulesets import Options
from baohuang.rules.state import PlayerId
from baohuang.stream.connection import connect_to
from baohuang.stream.permissions import NatsUser
from baohuang.stream.streams import SCORING_STREAM, TABLE_STREAM
from command_line.bots.runner import Bot
from command_line.development_key import DevelopmentKey
from command_line.identities import by_key
from deploy.tree import DEPLOY
from deploy.twin import NODES, Twin, twin
from eventually import eventually

ME: Final = PlayerId("me")
QUICK: Final = {"BAOHUANG_FILL_WITH_BOTS_AFTER": "0.5", "BAOHUANG_BOTS_THINK_SECONDS": "0.02"}


@pytest.mark.timeout(600)
async def test_a_hand_from_a_ticket_to_the_ladder_with_a_node_of_nats_lost(folder: Path) -> None:
    """Each with its own login, its own user of NATS and its own secrets; two replicas of table; then all end in order.

    While a node of NATS is away, the other two carry what happened. Health checks say who serves.
    """
    secrets = folder / "secrets"
    made = run([sys.executable, DEPLOY / "development_secrets.py", secrets], check=False)  # noqa: S603, ASYNC221
    assert made.returncode == 0
    async with twin(folder, secrets, QUICK) as running:
        assert {name: await running.is_healthy(name) for name in running.services} == dict.fromkeys(
            running.services, True
        )
        await streams_are_on_three(running)
        running.nodes["nats-3"].send(signal.SIGTERM)
        await running.nodes["nats-3"].wait()
        await a_hand_is_played_and_rated(running)
        for child in running.services.values():
            child.send(signal.SIGTERM)
        assert {name: await child.wait() for name, child in running.services.items()} == dict.fromkeys(
            running.services, 0
        )
        assert not await running.is_healthy("table")


async def streams_are_on_three(running: Twin) -> None:
    """Both streams are there, kept by all nodes."""
    password = running.made["BAOHUANG_NATS_OPERATOR_PASSWORD"]
    url = f"nats://{NatsUser.OPERATOR}:{password}@127.0.0.1:{running.ports['nats-1:4222']}"
    async with connect_to(url, "test")() as client:

        async def kept() -> bool:
            found = await client.jetstream().streams_info()
            return {one.config.name: one.config.num_replicas for one in found} == {
                TABLE_STREAM.name: len(NODES),
                SCORING_STREAM.name: len(NODES),
            }

        await eventually(kept, 30)


async def a_hand_is_played_and_rated(running: Twin) -> None:
    """Alone with a ticket that allows bots: seated with four, played on the other replica, scored, rated, recorded."""
    me = by_key(DevelopmentKey.of(running.secrets))(ME)
    async with AsyncExitStack() as stack:
        tables = await stack.enter_async_context(connect(running.address("table-2"), me))
        queues = await stack.enter_async_context(connect_matchmaking(running.address("matchmaking"), me))
        scores = await stack.enter_async_context(connect_scoring(running.address("scoring"), me))
        ratings = await stack.enter_async_context(connect_rating(running.address("rating"), me))
        records = await stack.enter_async_context(connect_history(running.address("history"), me))
        ticket = await queues.create_ticket("ourgame-simple", Options(bots=True))
        matched = (await queues.closed(ticket.ticket_id)).matched
        assert matched is not None
        bot = Bot(tables, matched.seat)
        await bot.take_place(matched.table_id)
        hand = (await bot.play_hand(matched.table_id)).table.hand
        assert hand is not None
        assert hand.result is not None

        async def scored() -> bool:
            try:
                return bool(await scores.hand_score(matched.table_id, 1))
            except NotFoundError:
                return False

        await eventually(scored, 30)
        assert sum([(await scores.account(account_of(player))).balance for player in hand.players]) == 0

        async def rated() -> bool:
            return (await ratings.rating(ME)).hands == 1

        await eventually(rated, 30)
        assert [one async for one in records.stream(EventsSought(StreamId(matched.table_id)))]
