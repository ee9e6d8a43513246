"""How a pool's connections begin, and as whom they act."""

import asyncio
import struct
from typing import Final

from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import make_url

from baohuang.database.pool import Identity, Limits, open_pool

_TAKEN_BY_PGBOUNCER: Final = frozenset(
    {"user", "database", "client_encoding", "datestyle", "timezone", "standard_conforming_strings", "application_name"}
)
"""Parameters of the start that PgBouncer takes as it is installed; any other it refuses, whole connection and all."""
_IDENTITY: Final = Identity("test", "baohuang_app", "eventlog", {"enable_seqscan": "off"})
_LIMITS: Final = Limits(lock_ms=1_234, statement_ms=4_321, idle_in_transaction_ms=5_432)


async def begun(dsn: str) -> dict[str, str]:
    """Return the parameters of the start that a pool sends to a server, which hears no more (PostgreSQL, 53.7)."""
    heard: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        (length,) = struct.unpack("!i", await reader.readexactly(4))
        message = await reader.readexactly(length - 4)
        if not heard.done():
            heard.set_result(message[4:])
        writer.close()

    server = await asyncio.start_server(hear, "127.0.0.1", 0)
    here = make_url(dsn).set(port=server.sockets[0].getsockname()[1]).update_query_dict({"sslmode": "disable"})
    opening = asyncio.create_task(open_pool(here.render_as_string(hide_password=False), 1, _LIMITS, _IDENTITY))
    words = (await asyncio.wait_for(heard, 30)).decode().rstrip("\0").split("\0")
    await asyncio.gather(opening, return_exceptions=True)
    server.close()
    return dict(zip(words[::2], words[1::2], strict=True))


async def test_a_start_has_nothing_that_pgbouncer_refuses(database_dsn: str) -> None:
    """So a pool of PgBouncer, one of sessions, may stand between a service and its database."""
    parameters = await begun(database_dsn)
    assert {name.lower() for name in parameters} <= _TAKEN_BY_PGBOUNCER
    assert parameters["application_name"] == "test"
    assert parameters["user"] == conninfo_to_dict(database_dsn)["user"]


async def test_a_connection_acts_as_its_role_within_its_limits(database_dsn: str) -> None:
    """Each that a pool makes, from its first statement on."""
    async with await open_pool(database_dsn, 2, _LIMITS, _IDENTITY) as pool:
        wanted = {
            "role": "baohuang_app",
            "search_path": "eventlog",
            "TimeZone": "UTC",
            "synchronous_commit": "on",
            "lock_timeout": "1234ms",
            "statement_timeout": "4321ms",
            "idle_in_transaction_session_timeout": "5432ms",
            "enable_seqscan": "off",
        }
        async with pool.acquire() as one, pool.acquire() as other:
            for connection in (one, other):
                found = await connection.fetch(
                    "select name, current_setting(name) as value from unnest($1::text[]) as told (name)", list(wanted)
                )
                assert {row["name"]: row["value"] for row in found} == wanted
