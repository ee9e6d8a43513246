"""The history service as a process of its own."""

from pathlib import Path

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from baohuang.client import DevelopmentIdentity, EventsSought, connect_history
from baohuang.eventlog.port import StreamId
from baohuang.rules.state import PlayerId
from command_line.service_process import ServiceProcess
from command_line.services import Service
from history_service.test_beside_tables import read_only
from tables.games import seated
from tables.replicas import Replica

HISTORY = Service("history", "table_service.history.main", "BAOHUANG_HISTORY_LISTEN")


async def test_it_serves_and_drains(service: Replica, own_database_dsn: str, tmp_path: Path) -> None:
    """Over a database that is read only: healthy, what is recorded is told; told to stop, it ends with 0."""
    game = await seated(service)
    async with read_only(own_database_dsn) as dsn:
        environment = {
            "BAOHUANG_POSTGRES_DSN": dsn,
            "BAOHUANG_TABLE_TARGET": service.address,
            "BAOHUANG_INSECURE_DEV": "true",
            "BAOHUANG_REFUSE_SECONDS": "0",
        }
        process = ServiceProcess(HISTORY, tmp_path, environment)
        await process.start()
        try:
            async with grpc.aio.insecure_channel(process.address) as channel:
                asked = health_pb2.HealthCheckRequest(service="baohuang.history.v1.HistoryService")
                healthy = await health_pb2_grpc.HealthStub(channel).Check(asked)
            assert healthy.status == health_pb2.HealthCheckResponse.SERVING
            async with connect_history(process.address, DevelopmentIdentity(PlayerId("spectator"))) as client:
                told = [event async for event in client.events(EventsSought(StreamId(game.table_id)))]
            assert [event.hash for event in told] == [event.hash for event in await game.events()]
        finally:
            await process.stop()
    assert process.child.exit_code == 0
