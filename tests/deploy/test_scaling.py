"""What autoscalers of table go by: the adapter's queries, over what a service tells, in each state that matters."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from copy import deepcopy
from datetime import timedelta
from typing import Any, Final

import asyncpg
import grpc
import pytest

import table_service.wiring
from baohuang.rpc.settings import ServerSettings
from deploy.adapter import Adapted, adapted
from deploy.promql import Labels, Told, Vector, evaluate
from deploy.rendering import MOST, Combination, of_kind
from deploy.test_times import ranges
from deploy.tree import Document
from deploy.well import AT, System, between, labelled, later, play, well
from eventually import eventually
from metrics.documented import documented
from metrics.test_services import Running, running
from table_service.settings import TableSettings
from tables.clients import Client, open_table, sit, stand

RULES: Final = {one.name: one for one in adapted()}
WAITING: Final = RULES["baohuang_commands_waiting"]
RAW: Final = 'avg_over_time(baohuang_flush_waiting{store="event log"}[2m])'
POD: Final = "table-0"
LANES: Final = 16
SOON: Final = 60.0
LOOKS_BACK: Final = timedelta(minutes=2)
SPREAD: Final = timedelta(minutes=2)
"""Within which connections have spread over new replicas, as the page has it."""
JITTER: Final = 1.1
"""grpc ends a connection at its age, up to a tenth sooner or later."""
_TOLD_TO_WAIT: Final = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.FAILED_PRECONDITION}
"""The second where the command before was not settled."""


def autoscaler() -> Document:
    """Return that of table, its specification."""
    found = of_kind(Combination("production", MOST), "HorizontalPodAutoscaler")
    (table,) = [one for one in found if one["metadata"]["name"] == "table"]
    specification: Document = table["spec"]
    return specification


def targets() -> dict[str, float]:
    """Return the metrics of pods that the autoscaler of table goes by, each with the value it aims at."""
    asked = [one["pods"] for one in autoscaler()["metrics"] if one["type"] == "Pods"]
    assert {one["target"]["type"] for one in asked} == {"AverageValue"}
    return {one["metric"]["name"]: float(one["target"]["averageValue"]) for one in asked}


TARGET: Final = targets()[WAITING.name]


def asked(rule: Adapted, told: Told) -> dict[str, float]:
    """Return what the adapter answers, by pod."""
    return {dict(labels)["pod"]: value for labels, value in evaluate(rule.query([POD]), told).items()}


def test_autoscalers_ask_for_what_the_adapter_has() -> None:
    """By its names, no two of which are one; no name is another family's; and it has nothing that nobody asks for."""
    assert targets().keys() == RULES.keys()
    assert len(RULES) == len(adapted())
    assert all(documented()[name].kind == "gauge" for name in RULES.keys() & documented().keys())


@pytest.mark.parametrize("rule", adapted(), ids=lambda one: one.name)
def test_series_are_found_of_table_alone_that_is_scaled(rule: Adapted) -> None:
    """What the adapter looks for is there, of each replica of table, and gives each a value."""
    then = well()
    told = between(then, later(then))
    assert {dict(labels)["pod"] for labels in evaluate(rule.series, told)} == {POD}
    assert asked(rule, told).keys() == {POD}


def _nothing_happens(now: System) -> None:
    now.log.waiting = 0


def _the_loop_is_at_its_limit(now: System) -> None:
    now.log.waiting = 40


def _flushes_are_slow(now: System) -> None:
    now.log.waiting = 40
    for _ in range(300):
        now.log.counts.seconds.add(0.11)


def _a_flush_hangs(now: System) -> None:
    now.log.waiting, now.log.in_flight_seconds = 400, 30.0


@pytest.mark.parametrize(
    ("happens", "expected"),
    [(_nothing_happens, 0), (_the_loop_is_at_its_limit, 40), (_flushes_are_slow, 0), (_a_flush_hangs, 0)],
)
def test_commands_count_while_flushes_are_quick(happens: Callable[[System], None], expected: int) -> None:
    """And neither do those that wait for a slow database, nor those behind a flush that nobody answers."""
    then = well()
    then.log.waiting = expected
    now = later(then)
    happens(now)
    assert asked(WAITING, between(then, now)) == {POD: expected}


@pytest.mark.parametrize(("seconds", "counts"), [(0.9, True), (1.0, False), (1.1, False)])
def test_a_flush_hangs_from_a_second_on(seconds: float, counts: bool) -> None:  # noqa: FBT001 - a case of the table
    """As the page has it: longer than any that ends well, long before anybody is told that the log is away."""
    then = well()
    then.log.waiting = 40
    now = later(then)
    now.log.in_flight_seconds = seconds
    assert (asked(WAITING, between(then, now))[POD] > 0) == counts


@pytest.mark.parametrize(("seconds", "counts"), [(0.049, True), (0.051, False)])
def test_flushes_are_slow_from_50_ms_on(seconds: float, counts: bool) -> None:  # noqa: FBT001 - a case of the table
    """On average over those that ended."""
    then = well()
    then.log.waiting = 40
    now = deepcopy(then)
    for _ in range(100):
        now.log.counts.seconds.add(seconds)
    assert (asked(WAITING, between(then, now))[POD] > 0) == counts


def test_all_that_it_looks_back_at_are_the_same_two_minutes() -> None:
    """What waited, how long flushes took and whether one hung: each judges the other."""
    assert set(ranges(WAITING.query([POD]))) == {LOOKS_BACK}


def test_replicas_are_doubled_once_those_before_have_shown() -> None:
    """Connections end at their age, and come to new replicas; then the metric is to have seen nothing older."""
    scaling_up = autoscaler()["behavior"]["scaleUp"]
    assert set(scaling_up) == {"policies"}
    (policy,) = scaling_up["policies"]
    assert (policy["type"], policy["value"]) == ("Percent", 100)
    age = ServerSettings.model_fields["max_connection_age_seconds"].default
    assert SPREAD.total_seconds() > age * JITTER
    assert timedelta(seconds=policy["periodSeconds"]) == SPREAD + LOOKS_BACK


def test_a_hang_that_is_over_counts_no_more_than_while_it_lasted() -> None:
    """Who waited through it still shows in the average, and its one flush hardly in theirs."""
    then = well()
    hung, now = later(then), later(then)
    _a_flush_hangs(hung)
    now.log.counts.seconds.add(30.0)
    play(now, 5000)
    told = Told(then.told(), later(now).told(), AT.timestamp(), (hung.told(),))
    assert min(evaluate(RAW, told).values()) > TARGET
    assert asked(WAITING, told) == {POD: 0}


def test_a_replica_that_has_just_begun_has_none() -> None:
    """Not no metric: then an autoscaler would scale nothing down."""
    system = System()
    system.up = {"table"}
    system.relays = well().relays
    nothing: Vector = {}
    assert asked(WAITING, Told(nothing, system.told(), AT.timestamp())) == {POD: 0}


@pytest.fixture
async def table(own_database_dsn: str) -> AsyncIterator[Running]:
    """Give a table service of this process, which tells its metrics."""
    told: dict[str, Any] = {"insecure_dev": True, "postgres_dsn": own_database_dsn, "metrics_listen": "127.0.0.1:0"}
    settings = TableSettings(**told, drain_grace_seconds=0.5, refuse_seconds=0.0)
    async with running(table_service.wiring, settings, *table_service.wiring.SERVICES) as one:
        yield one


async def samples(one: Running) -> Vector:
    """Return what Prometheus has of it now."""
    page = await one.page()
    return {
        labelled(sample.name, "table", sample.labels): sample.value
        for family in page.families.values()
        for sample in family.samples
    }


async def over_a_while(one: Running) -> Told:
    """Watch it for as long as some flushes take; one at the least ends meanwhile."""
    then = await samples(one)
    amid: list[Mapping[Labels, float]] = []

    async def flushed() -> bool:
        amid.append(await samples(one))
        return len(amid) >= LANES and _flushes(amid[-1]) > _flushes(then)

    await eventually(flushed, SOON)
    return Told(then, amid[-1], AT.timestamp(), amid[:-1])


def _flushes(moment: Vector) -> float:
    (found,) = evaluate('baohuang_flush_seconds_count{store="event log"}', Told({}, moment, 0)).values()
    return found


@asynccontextmanager
async def lanes(one: Running) -> AsyncIterator[None]:
    """Have a player at each of some tables sit down and stand up, again and again, whatever comes of it."""
    clients = [Client(one.channel, f"player-{lane}") for lane in range(LANES)]
    opened = [(await client.call(open_table())).table_id for client in clients]
    going = [asyncio.create_task(_up_and_down(*pair)) for pair in zip(clients, opened, strict=True)]
    try:
        yield
    finally:
        for lane in going:
            lane.cancel()
        ended = await asyncio.gather(*going, return_exceptions=True)
        assert {type(one) for one in ended} == {asyncio.CancelledError}


async def _up_and_down(client: Client, table_id: str) -> None:
    while True:
        for request in (sit(table_id, 0), stand(table_id)):
            try:
                await client.call(request)
            except grpc.aio.AioRpcError as error:
                if error.code() not in _TOLD_TO_WAIT:
                    raise


async def test_of_a_service_that_is_idle(table: Running) -> None:
    """Nobody waits, as a value: before its first command, and behind the last."""
    fresh = await samples(table)
    assert asked(WAITING, Told({}, fresh, AT.timestamp())) == {POD: 0}
    await Client(table.channel, "an").call(open_table())
    after = await samples(table)
    assert asked(WAITING, Told(after, await samples(table), AT.timestamp())) == {POD: 0}
    assert asked(RULES["baohuang_watchers"], Told(after, after, AT.timestamp())) == {POD: 0}


async def test_of_a_service_in_which_commands_wait_behind_quick_flushes(table: Running, own_database_dsn: str) -> None:
    """More than the target: here for what another transaction holds, which a flush finds at once and leaves."""
    holding = await asyncpg.connect(own_database_dsn)
    async with lanes(table):
        await holding.execute("begin; select from eventlog.heads for update")

        async def above() -> bool:
            return asked(WAITING, await over_a_while(table))[POD] > TARGET

        await eventually(above, SOON)
        await holding.close()


async def test_of_a_service_whose_database_is_slow(table: Running, own_database_dsn: str) -> None:
    """Commands wait, and none is told of: another replica would wait with them."""
    admin = await asyncpg.connect(own_database_dsn)
    await admin.execute("""
        create function dawdle() returns trigger language plpgsql as
            'begin perform pg_sleep(0.2); return null; end';
        create trigger slow before insert on eventlog.events for each statement execute function dawdle()
    """)
    await admin.close()
    async with lanes(table):
        told = await over_a_while(table)
    (waiting,) = evaluate(RAW, told).values()
    assert waiting > 0
    assert asked(WAITING, told) == {POD: 0}
