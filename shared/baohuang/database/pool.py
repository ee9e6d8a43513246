"""Pools of connections: as which role they act, how long they wait, how they carry JSON."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import asyncpg

from baohuang.database.address import reaching

Pool = asyncpg.Pool
Connection = asyncpg.pool.PoolConnectionProxy | asyncpg.Connection

FAILURES: Final = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError, ValueError)
"""What a statement or a connection may raise; OSError includes TimeoutError, ValueError is a value without encoding."""

_SET: Final = "select set_config(name, value, false) from unnest($1::text[], $2::text[]) as told (name, value)"
_CLOSE_SECONDS: Final = 3.0
_CONNECT_SECONDS: Final = 10.0
# A jsonb on the wire is its text behind the number of the format.
_JSONB_FORMAT: Final = b"\x01"


@dataclass(frozen=True, slots=True)
class Limits:
    """How long the server may wait before it gives a statement up, so that nobody keeps a lock for long."""

    lock_ms: int = 1_000
    statement_ms: int = 5_000
    idle_in_transaction_ms: int = 10_000

    @property
    def answer_seconds(self) -> float:
        """How long a client waits for an answer: somewhat longer than the server tries."""
        return self.statement_ms / 1000 + 1.0


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a pool's connections are: the name the server shows, the role they act as, where it looks names up.

    `settings` are further parameters of the server for these connections.
    """

    application: str
    role: str
    search_path: str = "public"
    settings: Mapping[str, str] = field(default_factory=dict)


class _Pool(asyncpg.Pool):
    """Closes its connections in order as long as the server answers, and drops them if it does not."""

    async def close(self) -> None:
        """Close it; whatever counts was answered, or given up, by those who asked for it."""
        with suppress(*FAILURES):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await super().close()


async def open_connection(dsn: str, application: str, seconds: float = _CONNECT_SECONDS) -> asyncpg.Connection:
    """Open one connection as the login of the DSN, under the name that the server shows; `seconds` it may take.

    Raises DatabaseUnreachableError, asyncpg.PostgresError.
    """
    with reaching(dsn):
        return await asyncpg.connect(dsn, timeout=seconds, server_settings={"application_name": application})


async def open_pool(dsn: str, size: int, limits: Limits, identity: Identity) -> "Pool":
    """Open a pool of up to `size` connections that act as a role and commit durably; jsonb comes and goes as bytes.

    A statement that is not answered is cancelled. Raises OSError or asyncpg.PostgresError if the first one cannot be
    made.
    """
    return await _opened(dsn, size, limits, identity, limits.answer_seconds)


async def open_patient_pool(dsn: str, size: int, limits: Limits, identity: Identity) -> "Pool":
    """Open a pool as `open_pool` does, but never cancel a statement: its commit may wait for a synchronous standby.

    PostgreSQL takes a cancellation then for leave to do without it: what a failover may lose would be there for all.
    """
    return await _opened(dsn, size, limits, identity, None)


async def _opened(dsn: str, size: int, limits: Limits, identity: Identity, command_seconds: float | None) -> "Pool":
    pool = _Pool(
        dsn,
        min_size=1,
        max_size=size,
        max_queries=50_000,
        max_inactive_connection_lifetime=300.0,
        loop=asyncio.get_running_loop(),
        connection_class=asyncpg.Connection,
        record_class=asyncpg.Record,
        init=partial(_made_ready, identity, limits),
        reset=_leave_as_is,
        timeout=limits.answer_seconds,
        command_timeout=command_seconds,
        server_settings={"application_name": identity.application, "timezone": "UTC"},
    )
    with reaching(dsn):
        return await pool


async def _made_ready(identity: Identity, limits: Limits, connection: asyncpg.Connection) -> None:
    """Have a new connection act as its role, by statements: as parameters of its start PgBouncer would refuse them."""
    settings = {
        "role": identity.role,
        "search_path": identity.search_path,
        "synchronous_commit": "on",
        "lock_timeout": str(limits.lock_ms),
        "statement_timeout": str(limits.statement_ms),
        "idle_in_transaction_session_timeout": str(limits.idle_in_transaction_ms),
        **identity.settings,
    }
    await connection.execute(_SET, list(settings), list(settings.values()))
    await _json_as_bytes(connection)


async def _json_as_bytes(connection: asyncpg.Connection) -> None:
    await connection.set_type_codec(
        "jsonb",
        schema="pg_catalog",
        format="binary",
        encoder=lambda document: _JSONB_FORMAT + document,
        decoder=lambda wire: bytes(wire[1:]),
    )


async def _leave_as_is(connection: asyncpg.Connection) -> None:
    """Spare the round trip that resets a session: nothing here changes one."""
