"""What the history service is made of, put together in one place."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from baohuang.database.release import check_schema
from baohuang.eventlog.port import EventReader
from baohuang.eventlog.postgres.log import open_reader
from baohuang.eventlog.postgres.schema import HISTORY, SCHEMA
from baohuang.gen.history.v1 import history_service_pb2, history_service_pb2_grpc
from baohuang.history.reader import HistoryReader, open_history
from baohuang.rpc.server import RpcServer
from table_service.history.forwarding import forwarding
from table_service.history.history_servicer import HistoryServicer
from table_service.history.settings import HistorySettings
from table_service.reversing_servicer import Reverse

SERVICE: Final = history_service_pb2.DESCRIPTOR.services_by_name["HistoryService"].full_name
_CONNECTIONS: Final = 2
"""Of each kind, beside those that play has: looking back waits for its own."""


@dataclass(frozen=True, slots=True)
class Record:
    """The log to be read: stream by stream, and by what is sought."""

    streams: EventReader
    sought: HistoryReader


@asynccontextmanager
async def open_record(dsn: str) -> AsyncIterator[Record]:
    """Open the record on a migrated database, or on a replica of it. Raises OSError, asyncpg.PostgresError."""
    async with open_reader(dsn, readers=_CONNECTIONS) as streams, open_history(dsn, readers=_CONNECTIONS) as sought:
        yield Record(streams, sought)


def register(server: RpcServer, record: Record, reverse: Reverse) -> None:
    """Register the servicer on the server."""
    servicer = HistoryServicer(record.streams, record.sought, reverse)
    history_service_pb2_grpc.add_HistoryServiceServicer_to_server(servicer, server.grpc)


@asynccontextmanager
async def wired(server: RpcServer, settings: HistorySettings) -> AsyncIterator[None]:
    """Open what the servicer needs to be served alone, and register it.

    Raises OSError, asyncpg.PostgresError, CertificateError, SchemaMismatchError.
    """
    dsn = settings.postgres_dsn.get_secret_value()
    await check_schema(dsn, SCHEMA, HISTORY)
    async with (
        open_record(dsn) as record,
        forwarding(settings.table_target, settings.client_tls) as reverse,
    ):
        register(server, record, reverse)
        yield
