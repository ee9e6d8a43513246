"""`baohuang up` as a whole: from "I want to play" to a ladder, by the SDK alone, with the bots killed on the way."""

import asyncio
import os
import signal
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from baohuang.client import (
    HandScored,
    NotFoundError,
    TicketState,
    account_of,
    connect,
    connect_matchmaking,
    connect_rating,
    connect_scoring,
)
from baohuang.rules.bots import is_bot
from baohuang.rules.rulesets import Options
from baohuang.rules.state import PlayerId
from command_line.bots.runner import Bot
from command_line.development_key import DevelopmentKey
from command_line.identities import by_key
from eventually import eventually
from up.running import Up, up

ME: Final = PlayerId("me")
QUICK: Final = {"BAOHUANG_FILL_WITH_BOTS_AFTER": "0.5", "BAOHUANG_BOTS_THINK_SECONDS": "0.02"}


async def test_from_a_ticket_to_the_ladder(data: Path) -> None:
    """Alone with a ticket that allows bots: seated with four, played, scored, rated; bots that are killed play on."""
    async with up(data, environment=QUICK) as started, AsyncExitStack() as stack:
        await started.ready()
        me = by_key(DevelopmentKey.of(data))(ME)
        tables = await stack.enter_async_context(connect(started.address, me))
        queues = await stack.enter_async_context(connect_matchmaking(started.address_of("matchmaking"), me))
        scores = await stack.enter_async_context(connect_scoring(started.address_of("scoring"), me))
        ratings = await stack.enter_async_context(connect_rating(started.address_of("rating"), me))
        ticket = await queues.create_ticket("ourgame-simple", Options(bots=True))
        matched = (await queues.closed(ticket.ticket_id)).matched
        assert matched is not None
        assert [player for player in matched.players if not is_bot(player)] == [ME]
        bot = Bot(tables, matched.seat)
        await bot.take_place(matched.table_id)
        playing = asyncio.create_task(bot.play_hand(matched.table_id))
        await kill_the_bots(started)
        end = await playing
        hand = end.table.hand
        assert hand is not None
        assert hand.result is not None
        assert not any(hand.fines)

        async def scored() -> HandScored | None:
            try:
                return await scores.hand_score(matched.table_id, 1)
            except NotFoundError:
                return None

        score = await eventually(scored)
        assert score is not None
        assert tuple(seat.points for seat in score.seats) == hand.result.points
        assert sum([(await scores.account(account_of(player))).balance for player in hand.players]) == 0

        async def rated() -> bool:
            return (await ratings.rating(ME)).hands == 1

        await eventually(rated)
        assert {place.player for place in [one async for one in ratings.leaderboard()]} == set(hand.players)
        assert (await queues.create_ticket("ourgame-simple")).state is TicketState.QUEUED


async def kill_the_bots(started: Up) -> None:
    """End the process that plays for bots, in mid-hand, and wait until it is back."""
    os.kill(int((started.data / "bots/pid").read_text()), signal.SIGKILL)
    await started.says("bots is up again")
