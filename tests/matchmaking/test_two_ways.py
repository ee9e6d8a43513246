"""A flush of requests for tickets goes the quick way, and what that cannot settle the other: nobody can tell which."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import asyncpg
import pytest

from baohuang.rpc.errors import MalformedInput, WrongState
from baohuang.rules.rulesets import Options
from baohuang.rules.state import PlayerId
from matchmaking_service.creating import Creating, Made, creating, wanted
from matchmaking_service.desk import Desk
from matchmaking_service.reading import Tickets
from matchmaking_service.requests import Request
from matchmaking_service.tickets import Ticket, TicketState, Wish
from matchmaking_service.wiring import open_tickets

ALONE = Wish("ourgame-simple", Options(), 1)
OF_THREE = Wish("ourgame-simple", Options(), 3)


@pytest.fixture
async def desk(own_database_dsn: str) -> AsyncIterator[tuple[Creating, Desk]]:
    """Give what makes tickets, and the desk before it."""
    async with await open_tickets(own_database_dsn) as pool, creating(pool) as making:
        yield making, Desk(pool, making, Tickets(pool))


def asked(player: str, request_id: str, body: bytes = b"1") -> Request:
    """Return a player's request."""
    return Request(PlayerId(player), request_id, body * 32)


async def together(making: Creating, *requests: tuple[Request, Wish | str]) -> list[Made | BaseException]:
    """Have requests settled that come before the next flush begins: by one flush."""
    return await asyncio.gather(
        *(making.settled(wanted(request, wish)) for request, wish in requests), return_exceptions=True
    )


async def test_each_of_a_flush_has_its_own_outcome(desk: tuple[Creating, Desk], database: asyncpg.Connection) -> None:
    """New ones, a retry, one who queues already, one whose id was used, one who joins: as if each had come alone."""
    making, _ = desk
    (first,) = await together(making, (asked("an", "1"), ALONE))
    leader, _ = await together(making, (asked("bo", "1"), OF_THREE), (asked("ce", "1"), ALONE))
    assert isinstance(leader, Ticket)
    retried, again, reused, joined, new, other = await together(
        making,
        (asked("an", "1"), ALONE),
        (asked("ce", "2"), ALONE),
        (asked("bo", "1", b"2"), OF_THREE),
        (asked("di", "1"), leader.code or ""),
        (asked("el", "1"), ALONE),
        (asked("fu", "1"), OF_THREE),
    )
    assert retried == first
    assert isinstance(again, WrongState)
    assert isinstance(reused, MalformedInput)
    assert isinstance(joined, Ticket)
    assert joined.players == ("bo", "di")
    assert isinstance(new, Ticket)
    assert isinstance(other, Ticket)
    assert (new.place, other.place) == (3, 0)
    assert await database.fetchval("select count(*) from requests") == 6
    assert await database.fetchval("select count(*) from tickets where state = 'queued'") == 6


async def test_the_quick_way_tells_what_is_stored(desk: tuple[Creating, Desk]) -> None:
    """What is answered at once is what a retry is answered, and what a reader finds."""
    making, reading = desk
    made = await together(making, (asked("an", "1"), ALONE), (asked("bo", "1"), OF_THREE))
    retried = [await making.settled(wanted(asked(player, "1"), ALONE)) for player in ("an", "bo")]
    assert retried == made
    assert all(isinstance(one, Ticket) and one.state is TicketState.QUEUED for one in made)
    assert (await reading.queue(ALONE)).players == 1


async def test_a_player_whom_somebody_holds_is_waited_for(
    desk: tuple[Creating, Desk], database: asyncpg.Connection
) -> None:
    """Another replica is making a ticket for one of a flush: the others are not kept, and he hears of that ticket."""
    making, _ = desk
    async with contextlib.AsyncExitStack() as held:
        await held.enter_async_context(database.transaction())
        await database.execute("select pg_advisory_xact_lock('tickets'::regclass::oid::integer, hashtext('an'))")
        waiting = asyncio.create_task(making.settled(wanted(asked("an", "1"), ALONE)))
        others = await together(making, (asked("bo", "1"), ALONE), (asked("ce", "1"), ALONE))
        assert all(isinstance(one, Ticket) for one in others)
        assert not waiting.done()
    ticket = await waiting
    assert isinstance(ticket, Ticket)
    assert ticket.player == "an"


async def test_a_request_that_was_carried_out_meanwhile(
    desk: tuple[Creating, Desk], database: asyncpg.Connection
) -> None:
    """A request whose ticket was cancelled since makes no other one, and keeps nobody's."""
    making, _ = desk
    first, _ = await together(making, (asked("an", "1"), ALONE), (asked("bo", "1"), ALONE))
    await database.execute("update tickets set state = 'cancelled', closed_at = now() where player = 'an'")
    again, new = await together(making, (asked("an", "1"), ALONE), (asked("ce", "1"), ALONE))
    assert again == first
    assert isinstance(new, Ticket)
    assert await database.fetchval("select count(*) from tickets") == 3
