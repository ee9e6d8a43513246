"""A collector that is away, or takes nothing: play goes on, and what waits for it is bounded."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import grpc
import pytest
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, use_span

from baohuang.client import DevelopmentIdentity, connect
from baohuang.embedded.ports import free_port
from baohuang.rules.state import PlayerId
from command_line.service_process import ServiceProcess
from command_line.services import TABLE
from eventually import eventually
from tables.clients import Client, open_table
from tracing.collector import Collector, collecting

COMMANDS: Final = 60
QUEUE, BATCH = 32, 8
END_SECONDS: Final = 20.0
"""For the end of a process on a busy machine; the collector is given 60 s to answer, in vain."""
ALWAYS: Final = {
    "OTEL_TRACES_SAMPLER": "always_on",
    "OTEL_BSP_SCHEDULE_DELAY": "20",
    "OTEL_BSP_MAX_QUEUE_SIZE": str(QUEUE),
    "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": str(BATCH),
    "OTEL_EXPORTER_OTLP_TIMEOUT": "60",
}


@asynccontextmanager
async def table(dsn: str, home: Path, told: Mapping[str, str]) -> AsyncIterator[ServiceProcess]:
    """Run a table service with this environment."""
    environment = {"BAOHUANG_POSTGRES_DSN": dsn, "BAOHUANG_INSECURE_DEV": "true", **told}
    service = ServiceProcess(TABLE, home, environment)
    await service.start()
    try:
        yield service
    finally:
        await service.stop()


async def play(service: ServiceProcess) -> None:
    """Have commands accepted, every one of them at the first attempt."""
    async with grpc.aio.insecure_channel(service.address) as channel:
        client = Client(channel, "an")
        for _ in range(COMMANDS):
            await client.call(open_table())


async def test_a_collector_that_never_answers_costs_nothing_but_traces(own_database_dsn: str, tmp_path: Path) -> None:
    """Commands are accepted; no more waits than the queue holds; and the end of the process does not wait for long."""
    with collecting() as collector:
        collector.held.clear()
        told = {**ALWAYS, "OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint}
        async with table(own_database_dsn, tmp_path, told) as service:
            await play(service)
            assert await asyncio.to_thread(collector.asked.wait, END_SECONDS)
            collector.held.set()
            opened = await eventually(lambda: _opened(collector), within=END_SECONDS)
            # What was under way, what waited, and what came of it meanwhile.
            assert 0 < opened < COMMANDS
            collector.held.clear()
            await play(service)
            async with asyncio.timeout(END_SECONDS):
                await service.stop()


async def _opened(collector: Collector) -> int:
    """Return of how many commands traces were told, once the last of them is."""
    told = collector.told()
    return sum(one.name.endswith("/OpenTable") for one in told)


async def test_no_collector_costs_nothing_but_traces(own_database_dsn: str, tmp_path: Path) -> None:
    """Nobody listens there: commands are accepted, and the process ends."""
    told = {**ALWAYS, "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{free_port()}"}
    async with table(own_database_dsn, tmp_path, told) as service:
        await play(service)
        async with asyncio.timeout(END_SECONDS):
            await service.stop()


@pytest.mark.parametrize(("flags", "traced"), [(TraceFlags.SAMPLED, True), (TraceFlags.DEFAULT, False)])
async def test_only_what_is_sampled_is_told(
    own_database_dsn: str, tmp_path: Path, *, flags: TraceFlags, traced: bool
) -> None:
    """Of an app that has sampled its trace everything is told in it, by its end at the latest; of another nothing."""
    app = NonRecordingSpan(SpanContext(0x1234 << 100, 0x56 << 40, is_remote=False, trace_flags=TraceFlags(flags)))
    with collecting() as collector:
        told = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint, "OTEL_SERVICE_NAME": "tables"}
        async with (
            table(own_database_dsn, tmp_path, told) as service,
            connect(service.address, DevelopmentIdentity(PlayerId("an"))) as client,
        ):
            with use_span(app):
                async with client.play() as playing:
                    await client.open_table("ourgame-simple")
                    await playing.open_table("ourgame-simple")
        spans = collector.trace(app.get_span_context().trace_id.to_bytes(16, "big"))
        names = {one.name.removeprefix("baohuang.table.v1.TableService/") for one in spans}
        calls = {"OpenTable", "Play", "Play open_table", "decide", "append", "wait for the flush", "flush event log"}
        assert names == (calls if traced else set())
        assert {one.service for one in collector.told()} == ({"tables"} if traced else set())
