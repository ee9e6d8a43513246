"""Every service, its parts real, tells what the operators' page says it does, and counts what happens to it."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
import grpc
import pytest

import command_line.bots.serving
import matchmaking_service.wiring
import rating_service.wiring
import scoring_service.wiring
import table_service.history.wiring
import table_service.wiring
from baohuang.client import DevelopmentIdentity, MatchmakingClient, MoveRefusedError
from baohuang.embedded.nats import EmbeddedNats
from baohuang.eventlog.postgres.log import open_reader
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.rpc.auth import ROLE_KEY
from baohuang.rpc.server import ListenError, RpcServer
from baohuang.rpc.settings import ServerSettings
from baohuang.rules.state import PlayerId
from baohuang.stream.permissions import NatsUser
from bench.random_player import chance_of
from command_line.bots.settings import BotsSettings
from eventually import eventually
from matchmaking_service.settings import MatchmakingSettings
from metrics.documented import documented
from metrics.scraping import Page, scraped
from rating_service.settings import RatingSettings
from scoring_service.settings import ScoringSettings
from table_service.history.settings import HistorySettings
from table_service.settings import TableSettings
from tables.clients import Client, fresh, open_table, ready, sit
from tables.games import PLAYERS, Game

SOON = 60.0
"""How long anything may take on a busy machine."""


@dataclass(frozen=True, slots=True)
class Running:
    """A service, and a channel to it."""

    server: RpcServer
    port: int
    channel: grpc.aio.Channel

    async def page(self) -> Page:
        """Read its metrics now."""
        return await scraped(self.server)


@asynccontextmanager
async def running(module: Any, settings: ServerSettings, *services: str) -> AsyncIterator[Running]:
    """Run a service of its own wiring in this process."""
    server = RpcServer(settings, "127.0.0.1:0")
    async with module.wired(server, settings):
        port = await server.start(*services)
        try:
            async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
                yield Running(server, port, channel)
        finally:
            await server.drain()


@pytest.fixture
async def services(own_database_dsn: str, tmp_path: Path) -> AsyncIterator[Mapping[str, Running]]:
    """Give all five, on a real PostgreSQL and NATS, each with its own user there."""
    told: dict[str, Any] = {
        "insecure_dev": True,
        "postgres_dsn": own_database_dsn,
        "metrics_listen": "127.0.0.1:0",
        "drain_grace_seconds": 0.5,
        "refuse_seconds": 0.0,
    }
    nats = EmbeddedNats(tmp_path)
    await nats.start()
    async with AsyncExitStack() as stack:
        stack.push_async_callback(nats.destroy)

        async def run(module: Any, settings: ServerSettings) -> Running:
            return await stack.enter_async_context(running(module, settings, *getattr(module, "SERVICES", ())))

        on_nats = {user: {**told, "nats_url": nats.url_of(user)} for user in NatsUser}
        table = await run(table_service.wiring, TableSettings(**on_nats[NatsUser.TABLE], dev_seed=7))
        address = f"127.0.0.1:{table.port}"
        yield {
            "table": table,
            "scoring": await run(scoring_service.wiring, ScoringSettings(**on_nats[NatsUser.SCORING])),
            "rating": await run(rating_service.wiring, RatingSettings(**on_nats[NatsUser.RATING])),
            "matchmaking": await run(matchmaking_service.wiring, MatchmakingSettings(**told, table_address=address)),
            "history": await run(table_service.history.wiring, HistorySettings(**told, table_target=address)),
        }


async def test_every_service_exports_what_the_page_for_operators_says(services: Mapping[str, Running]) -> None:
    """Name by name: kind, labels, who exports it and what it says are those of the table in docs/operations.md."""
    for service, one in services.items():
        await _exports_what_is_documented(service, one)


async def test_bots_export_what_the_page_says() -> None:
    """They too, with nobody there to play with."""
    settings = BotsSettings(
        insecure_dev=True, table_address="127.0.0.1:1", metrics_listen="127.0.0.1:0", refuse_seconds=0.0
    )
    async with running(command_line.bots.serving, settings) as bots:
        await _exports_what_is_documented("bots", bots)


async def _exports_what_is_documented(service: str, one: Running) -> None:
    page = await one.page()
    labels = {reading.family.name: reading.family.labels for reading in one.server.metrics.readings()}
    exported = {
        name: (family.type, labels[name], family.documentation)
        for name, family in page.families.items()
        if name.startswith("baohuang_")
    }
    wanted = {
        line.name: (line.kind, line.labels, line.says)
        for line in documented().values()
        if line.services & {service, "all"}
    }
    assert exported == wanted, service


async def test_failures_are_counted_from_nothing(services: Mapping[str, Running]) -> None:
    """Before anybody called: a count that began with its first failure would not be seen to have grown by it."""
    table = await services["table"].page()
    methods = {f"{_TABLES}/{one}" for one in ("Act", "Play", "WatchTable")}
    for name in ("baohuang_calls_failed_total", "baohuang_calls_open"):
        told = {one.labels["method"]: one.value for one in table.families[name].samples}
        assert methods <= told.keys()
        assert set(told.values()) == {0}
    parts = {one.labels["part"]: one.value for one in table.families["baohuang_bugs_total"].samples}
    assert parts == dict.fromkeys(("Relay", "clock", "deadlines", "lines", "watched tables", "watches"), 0)
    seating = await services["matchmaking"].page()
    assert {one.labels["part"] for one in seating.families["baohuang_bugs_total"].samples} >= {"Seating", "Forming"}
    assert 0 in {one.value for one in (await services["rating"].page()).families["baohuang_calls_failed_total"].samples}


async def test_a_hand_is_counted_from_its_first_command_to_its_rating(
    services: Mapping[str, Running], own_database_dsn: str
) -> None:
    """A hand played, one voided by an operator, an illegal move, a watch: each number is that of what happened.

    And no page says who played, where, or what he held.
    """
    table = services["table"]
    async with open_reader(own_database_dsn) as log:
        game = await played(table, log)
        await voided(table, game)
        late = await game.clients[0].refused(sit(game.table_id, 0))
        watch = game.clients[0].watch(game.table_id)
        await watch.read()
        page = await table.page()
        watch.cancel()
        head = (await log.list_heads())[0]
        last = (await log.read_all(limit=10_000))[-1].position
    outcomes = ("ACCEPTED", late.reason, "FAILED")
    commands = [page.value("baohuang_commands_total", outcome=outcome) for outcome in outcomes]
    assert commands == [await requests(own_database_dsn), 1, 0]
    assert page.value("baohuang_calls_refused_total", reason=late.reason, method=f"{_TABLES}/SitDown") == 1
    assert page.value("baohuang_calls_total", method=f"{_TABLES}/SitDown") == 6
    assert page.value("baohuang_calls_open", method=f"{_TABLES}/WatchTable") == 1
    assert page.value("baohuang_watchers") == 1
    assert page.value("baohuang_hands_started_total") == 2
    for ending in ("played", "void"):
        assert page.value("baohuang_hands_finished_total", ruleset="ourgame-simple", ending=ending) == 1
    assert page.value("baohuang_rulings_total", type="HandVoided", clause="RULE-1") == 1
    assert page.value("baohuang_flush_outcomes_total", store="event log", outcome="Appended") == commands[0]
    assert page.value("baohuang_flush_commands_sum", store="event log") >= commands[0]
    assert page.value("baohuang_flush_seconds_count", store="event log") > 0
    assert page.value("baohuang_log_position") == last
    assert page.value("baohuang_tables_held") == 1
    assert abs(page.value("baohuang_clock_offset_seconds")) < 60
    assert head.version > 0
    await everything_out(services, last)
    values = {value for one in services.values() for value in (await one.page()).label_values}
    assert values.isdisjoint({game.table_id, "olga", *PLAYERS})


_TABLES = "/baohuang.table.v1.TableService"


async def played(table: Running, log: Any) -> Game:
    """Play a hand to its end."""
    clients = [Client(table.channel, player) for player in PLAYERS]
    opened = await clients[0].call(open_table())
    game = Game(log, opened.table_id, clients)
    await game.seat_all()
    await game.all_ready()
    await game.play(chance_of(7))
    return game


async def voided(table: Running, game: Game) -> None:
    """Begin another hand, and have an operator void it."""
    for client in game.clients:
        await client.call(ready(game.table_id))
    operator = Client(table.channel, "olga")
    operator.metadata = (*operator.metadata, (ROLE_KEY, "operator"))
    await operator.call(pb.VoidHandRequest(request_id=fresh(), table_id=game.table_id, reason="a test"))


async def requests(dsn: str) -> int:
    """Return how many commands the log answered."""
    admin = await asyncpg.connect(dsn)
    try:
        return int(await admin.fetchval("select count(*) from eventlog.requests"))
    finally:
        await admin.close()


async def everything_out(services: Mapping[str, Running], last: int) -> None:
    """Wait until the log is published, scored, published as the ledger and rated, as the metrics have it."""

    async def reached() -> bool:
        table, scoring, rating = [await services[name].page() for name in ("table", "scoring", "rating")]
        published = table.value("baohuang_relay_published_number", stream="baohuang-table")
        postings = scoring.value("baohuang_relay_published_number", stream="baohuang-scoring")
        lags = [
            scoring.value("baohuang_consumer_lag_messages", consumer="scoring"),
            rating.value("baohuang_consumer_lag_messages", consumer="rating"),
        ]
        at = rating.value("baohuang_consumer_reached_number", consumer="rating")
        return (published, lags) == (last, [0, 0]) and at == postings > 0

    await eventually(reached, SOON)
    table, scoring, rating = [await services[name].page() for name in ("table", "scoring", "rating")]
    assert table.value("baohuang_relay_publishing", stream="baohuang-table") == 1
    assert table.value("baohuang_relay_behind_seconds", stream="baohuang-table") < SOON
    assert scoring.value("baohuang_consumer_running", consumer="scoring") == 1
    assert rating.value("baohuang_consumer_alarm", consumer="rating") == 0
    assert rating.value("baohuang_consumer_delay_seconds_count", consumer="rating") > 0


async def test_matches_are_counted(services: Mapping[str, Running]) -> None:
    """One waits, and asks again; then four more come: a match is formed and seated, and nobody waits.

    What the flushes of it came to is told in words, of both stores.
    """
    matchmaking = services["matchmaking"]
    queues = [MatchmakingClient(matchmaking.channel, DevelopmentIdentity(PlayerId(name))) for name in PLAYERS]
    first = await queues[0].create_ticket("ourgame-simple")
    with pytest.raises(MoveRefusedError):
        await queues[0].create_ticket("ourgame-simple")

    async def waits() -> bool:
        return (await matchmaking.page()).value("baohuang_parties_waiting") == 1

    await eventually(waits, SOON)
    for queue in queues[1:]:
        await queue.create_ticket("ourgame-simple")
    await queues[0].closed(first.ticket_id)

    async def seated() -> bool:
        return (await matchmaking.page()).value("baohuang_matches_seated_total") == 1

    await eventually(seated, SOON)
    page = await matchmaking.page()
    assert page.value("baohuang_matches_formed_total") == 1
    assert page.value("baohuang_matches_dissolved_total") == 0
    assert page.value("baohuang_flush_seconds_count", store="queue of tickets") > 0
    assert outcomes(page) == {
        ("queue of tickets", "Queued"): 5,
        ("queue of tickets", "ALREADY_QUEUED"): 1,
        ("tables of matches", "Noted"): 1,
    }


def outcomes(page: Page) -> Mapping[tuple[str, str], float]:
    """Return what flushes came to, by store; what found something held was sent again, so that is left out."""
    told = page.families["baohuang_flush_outcomes_total"].samples
    found = {(one.labels["store"], one.labels["outcome"]): one.value for one in told if one.name.endswith("_total")}
    return {key: value for key, value in found.items() if key[1] != "Busy"}


async def test_a_consumer_with_an_alarm_says_so(services: Mapping[str, Running], own_database_dsn: str) -> None:
    """An alarm in the checkpoint shows as one, and the consumer as not running."""
    scoring = services["scoring"]

    async def runs() -> bool:
        return (await scoring.page()).value("baohuang_consumer_running", consumer="scoring") == 1

    await eventually(runs, SOON)
    admin = await asyncpg.connect(own_database_dsn)
    await admin.execute("update scoring.checkpoints set alarm = 'a test'")
    await admin.close()

    async def alarmed() -> bool:
        page = await scoring.page()
        told = [page.value(f"baohuang_consumer_{name}", consumer="scoring") for name in ("alarm", "running")]
        return told == [1, 0]

    async with open_reader(own_database_dsn) as log:
        await played(services["table"], log)
    await eventually(alarmed, SOON)


@pytest.mark.parametrize(
    ("consumer", "made", "settled"),
    [
        (
            "scoring",
            "insert into scoring.unscored (number, position, hash, error) values (1, 1, repeat('0', 64), 'a test')",
            "delete from scoring.unscored",
        ),
        (
            "scoring",
            "insert into scoring.set_aside values ('scoring', 1, '', '{}', '', 'a test')",
            "update scoring.set_aside set settled_as = 'applied', settled_at = now()",
        ),
        (
            "rating",
            "insert into rating.set_aside values ('rating', 1, '', '{}', '', 'a test')",
            "update rating.set_aside set settled_as = 'skipped', settled_at = now()",
        ),
    ],
    ids=["an event without a posting", "passed over by scoring", "held up in rating"],
)
async def test_what_is_set_aside_is_told_until_it_is_settled(
    services: Mapping[str, Running], own_database_dsn: str, consumer: str, made: str, settled: str
) -> None:
    """Whoever set it aside: it is in the tables, and no count of this process."""

    async def told(messages: int) -> bool:
        page = await services[consumer].page()
        families = page.families["baohuang_consumer_set_aside_messages"].samples
        return [one.value for one in families] == [messages]

    await eventually(lambda: told(0), SOON)
    admin = await asyncpg.connect(own_database_dsn)
    await admin.execute(made)
    await eventually(lambda: told(1), SOON)
    await admin.execute(settled)
    await admin.close()
    await eventually(lambda: told(0), SOON)


async def test_an_address_for_metrics_that_is_taken_is_told(services: Mapping[str, Running]) -> None:
    """A service that cannot tell its metrics does not serve without them."""
    taken = services["table"].server.endpoint
    assert taken is not None
    server = RpcServer(ServerSettings(insecure_dev=True, metrics_listen=f"127.0.0.1:{taken.port}"), "127.0.0.1:0")
    with pytest.raises(ListenError, match=f"127.0.0.1:{taken.port} for metrics"):
        await server.start()
    await server.grpc.stop(None)
