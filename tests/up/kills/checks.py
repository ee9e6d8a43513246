"""What has to hold after all was killed: between the players, the log, the ledger and the ratings."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from baohuang.client import (
    HOUSE,
    DevelopmentIdentity,
    PostingKind,
    RatingClient,
    ScoringClient,
    Ticket,
    TicketState,
    account_of,
)
from baohuang.client.calls import channel_to
from baohuang.rules.events import HandFinished
from baohuang.rules.state import PlayerId, TableStatus
from command_line.identities import Identify
from up.kills.players import Player
from up.kills.records import Record

SETTLED_SECONDS: Final = 60.0
"""Within which the ledger and the ratings have caught up with the log, after whatever was killed last."""
_AT_ONCE: Final = 16
"""How many players are asked about at a time."""


async def check_points(
    address_of: Callable[[str], str], record: Record, identify: Identify = DevelopmentIdentity
) -> None:
    """Check by the API that each hand is scored as the log has it, and booked and rated once for each of its players.

    All accounts, the house's too, sum to zero.
    """
    async with AsyncExitStack() as stack:
        to_scoring = await stack.enter_async_context(channel_to(address_of("scoring")))
        to_rating = await stack.enter_async_context(channel_to(address_of("rating")))
        anybody = ScoringClient(to_scoring, identify(PlayerId("anybody")))
        for (table_id, hand), end in record.finished.items():
            score = await anybody.hand_score(table_id, hand)
            assert tuple(seat.points for seat in score.seats) == end.points
            assert score.void == end.void
        total = (await anybody.account(HOUSE)).balance
        room = asyncio.Semaphore(_AT_ONCE)

        async def checked(player: PlayerId) -> int:
            async with room:
                own = identify(player)
                return await _check_player(ScoringClient(to_scoring, own), RatingClient(to_rating, own), record, player)

        assert total + sum(await asyncio.gather(*map(checked, record.hands_of))) == 0


async def _check_player(scores: ScoringClient, ratings: RatingClient, record: Record, player: PlayerId) -> int:
    """Check one player's entries and changes against the log and give his balance."""
    entries = [entry async for entry in scores.entries(account_of(player))]
    booked = Counter((entry.table_id, entry.hand) for entry in entries if entry.kind is PostingKind.HAND)
    assert booked == Counter(record.hands_of[player])
    fines = sum(fine.points for fine in record.fines if fine.player == player)
    points = fines + sum(_points(record.finished[key], player) for key in record.hands_of[player])
    balance = (await scores.account(account_of(player))).balance
    assert balance == points == sum(entry.points for entry in entries)
    rated = Counter([(change.table_id, change.hand) async for change in ratings.changes(player)])
    assert rated == Counter(record.hands_of[player])
    rating = await ratings.rating(player)
    assert (rating.hands, rating.points) == (len(record.hands_of[player]), points)
    return balance


def _points(end: HandFinished, player: PlayerId) -> int:
    return end.points[end.players.index(player)]


def check_logs(data: Path) -> None:
    """Check that no service met a bug: none logged an error, which an outage of another is not."""
    lines = [line for log in data.glob("*/log") for line in log.read_text().splitlines() if line.startswith("{")]
    assert [line for line in lines if json.loads(line)["level"] in {"error", "critical"}] == []


async def check_place(player: Player, ticket: Ticket) -> TicketState:
    """Check that a player either sits, where his ticket says, or waits; give what became of the ticket."""
    state = await _state(player, ticket)
    seats = [table.table_id async for table in player.tables.list_tables(player=player.name, status=TableStatus.OPEN)]
    match state:
        case Ticket(state=TicketState.MATCHED, matched=matched) if matched is not None:
            assert seats == [matched.table_id]
        case Ticket(state=TicketState.QUEUED):
            assert seats == []
        case _:
            raise AssertionError(f"neither seated nor queued: {state}")
    return state.state


async def _state(player: Player, ticket: Ticket) -> Ticket:
    async for seen in player.queues.watch(ticket.ticket_id):
        return seen
    raise AssertionError("a watch begins with the ticket as it is")
