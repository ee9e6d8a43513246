"""What plays for bots: seated with people by a service, they get ready, play and leave; through restarts."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import grpc
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from structlog.testing import capture_logs

from baohuang.client import TableClient
from baohuang.embedded.ports import free_port
from baohuang.eventlog.memory import MemoryLog
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.metrics.bugs import Bugs
from baohuang.rpc.settings import ServerSettings
from baohuang.rules.events import HandFinished, HandStarted, PlayerFined, ReadinessSet, TrusteeshipEntered
from baohuang.rules.state import PlayerId, TableId
from baohuang.stream.working import at_work
from client.in_process import Service, running
from command_line.bots.counts import read_looking
from command_line.bots.runner import Bot
from command_line.bots.serving import hosting
from command_line.bots.settings import BotsSettings
from command_line.demo.checking import Recorded, recorded
from command_line.development_key import AUDIENCE, ISSUER, DevelopmentKey
from command_line.identities import by_key, by_own_word
from eventually import eventually
from tables.clients import Client, fresh

ME: Final = PlayerId("alice")
BOTS: Final = tuple(PlayerId(f"bot:{number}") for number in range(1, 5))
LOOK_SECONDS: Final = 0.02
SEATS: Final = (*BOTS[:2], ME, *BOTS[2:])


def settings_for(address: str) -> BotsSettings:
    """Return those of bots that lose no time."""
    return BotsSettings(
        insecure_dev=True, table_address=address, bots_think_seconds=0.0, bots_look_seconds=LOOK_SECONDS
    )


@asynccontextmanager
async def bots_at(address: str) -> AsyncIterator[None]:
    """Play for the bots of a table service until the end of the block."""
    async with hosting(settings_for(address), by_own_word, Bugs()) as host, at_work(host):
        yield


async def opened(service: Service, players: Sequence[PlayerId] = SEATS) -> TableId:
    """Open a table with these players, as matchmaking does."""
    async with grpc.aio.insecure_channel(service.address) as channel:
        client = Client(channel, "matchmaking")
        client.metadata = (*client.metadata, ("baohuang-role", "service"))
        request = pb.OpenTableRequest(request_id=fresh(), ruleset="ourgame-simple", players=players)
        return TableId((await client.call(request)).table_id)


async def tables_with_bots(client: TableClient) -> list[TableId]:
    return [table.table_id async for table in client.list_tables(bots=True)]


async def all_bots_ready(client: TableClient, table_id: TableId) -> bool:
    seats = (await client.get_table(table_id)).table.seats
    return all(seat.ready for seat in seats if seat.player != ME)


def of(history: Sequence[Recorded], kind: type) -> int:
    return sum(isinstance(one.event, kind) for one in history)


async def test_bots_that_are_not_believed_say_so(tmp_path: Path) -> None:
    """Their key is not in the set of the table service: one line when it begins, one when it is."""
    theirs, others = DevelopmentKey(Ed25519PrivateKey.generate()), DevelopmentKey(Ed25519PrivateKey.generate())
    published = tmp_path / "jwks.json"
    published.write_text(json.dumps({"keys": [others.jwk]}))
    believing = ServerSettings(jwks=str(published), jwt_issuer=ISSUER, jwt_audience=AUDIENCE, refuse_seconds=0.0)
    with capture_logs() as lines:
        async with (
            running(settings=believing) as service,
            hosting(settings_for(service.address), by_key(theirs), Bugs()) as host,
            at_work(host),
        ):

            async def longer() -> bool:
                (told,) = read_looking(host.looking)
                return told.values[()] > 20 * LOOK_SECONDS  # type: ignore[operator] # it is no histogram

            async def over() -> bool:
                return host.looking.seconds == 0.0

            await eventually(longer)
            published.write_text(json.dumps({"keys": [others.jwk, theirs.jwk]}))
            await eventually(over)
    told = [(line["event"], line.get("why", "")) for line in lines if line["event"].startswith("tables ")]
    assert [event for event, _ in told] == ["tables not looked for", "tables looked for again"]
    assert "UNAUTHENTICATED" in told[0][1]


async def test_bots_play_hand_after_hand_and_leave_with_the_last_person() -> None:
    """Two hands with one person, nobody fined or played by a trustee; the person stands up, then so do they."""
    async with running() as service, bots_at(service.address), service.client() as me:
        table_id = await opened(service)
        for _ in range(2):
            await eventually(lambda: all_bots_ready(me, table_id))
            await me.set_ready(table_id, ready=True)
            await Bot(me, 2).play_hand(table_id)
        await me.stand_up(table_id)

        async def all_gone() -> bool:
            return await tables_with_bots(me) == []

        await eventually(all_gone)
        assert not any(seat.player for seat in (await me.get_table(table_id)).table.seats)
        history = await recorded(service.log, table_id)
        assert [of(history, kind) for kind in (HandFinished, TrusteeshipEntered, PlayerFined)] == [2, 0, 0]
        readied = [one.event.player for one in history if isinstance(one.event, ReadinessSet)]
        assert len(readied) - readied.count(ME) in range(8, 13)  # twice the four, and who was quick for a third hand


async def test_a_crash_of_bots_or_of_tables_costs_no_move() -> None:
    """Both ended several times in a hand, and started anew: one hand, finished once, each bot ready once for it."""
    log, port = MemoryLog(), free_port()
    async with running(log, port) as service:
        table_id = await opened(service)
        async with service.client() as me:
            await me.set_ready(table_id, ready=True)
    async with service.client() as me:
        playing = asyncio.create_task(Bot(me, 2).play_hand(table_id))
        rounds = 0
        while not playing.done():
            rounds += 1
            async with running(log, port) as service, bots_at(service.address):
                await until_longer(service, table_id, playing)
        result = (await playing).table.hand
    assert result is not None
    history = await recorded(log, table_id)
    begun = next(at for at, one in enumerate(history) if isinstance(one.event, HandStarted))
    assert (of(history, HandStarted), of(history, HandFinished), of(history, PlayerFined)) == (1, 1, 0)
    assert of(history[:begun], ReadinessSet) == 5
    assert rounds > 2


async def until_longer(service: Service, table_id: TableId, playing: "asyncio.Task[object]") -> None:
    """Wait until the table has some more events, or its hand is played."""
    wanted = len(await service.events(table_id)) + 50

    async def longer() -> bool:
        return playing.done() or len(await service.events(table_id)) >= wanted

    await eventually(longer, within=30)


async def test_a_second_process_takes_over_and_is_not_fought() -> None:
    """Two play for the same bots: the hand is played once, and the first leaves its streams to the second."""
    async with running() as service, bots_at(service.address), service.client() as me:
        table_id = await opened(service)

        await eventually(lambda: all_bots_ready(me, table_id))
        async with bots_at(service.address):
            await me.set_ready(table_id, ready=True)
            end = await Bot(me, 2).play_hand(table_id)
        assert end.table.hands_played == 1
        history = await recorded(service.log, table_id)
        assert (of(history, HandFinished), of(history, TrusteeshipEntered)) == (1, 0)


async def test_the_first_goes_on_where_the_second_leaves_off() -> None:
    """A second process takes over and ends in mid-hand: the first, which stood back, makes the moves that are due."""
    async with running() as service, bots_at(service.address), service.client() as me:
        table_id = await opened(service)
        await eventually(lambda: all_bots_ready(me, table_id))
        async with bots_at(service.address):
            await me.set_ready(table_id, ready=True)
            playing = asyncio.create_task(Bot(me, 2).play_hand(table_id))
            await until_longer(service, table_id, playing)
        assert not playing.done()
        assert (await playing).table.hands_played == 1
        history = await recorded(service.log, table_id)
        assert [of(history, kind) for kind in (HandFinished, TrusteeshipEntered)] == [1, 0]


async def test_tables_without_bots_are_left_alone() -> None:
    """A listing with `bots` has the tables at which bots sit, and no others, closed ones aside; nobody joins others."""
    async with running() as service, service.client() as me:
        people = tuple(map(PlayerId, ("an", "bo", "chen", "deng", "er")))
        others, own = await opened(service, people), await opened(service)
        assert await tables_with_bots(me) == [own]
        async with bots_at(service.address):
            await eventually(lambda: all_bots_ready(me, own))
        assert not any(seat.ready for seat in (await me.get_table(others)).table.seats)
