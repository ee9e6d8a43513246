import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import asyncpg
import pytest

from baohuang.database.address import DatabaseUnreachableError
from baohuang.database.pool import Identity, Limits, open_pool
from baohuang.eventlog.postgres.migrations import migrate
from baohuang.tls.files import Tls
from tls.authorities import Authority, Issued
from tls.postgres_front import PostgresFront

OURS, OTHERS = Authority("ours"), Authority("others")
YESTERDAY = timedelta(days=-1)
WHO = Identity("a test", "baohuang_app", "eventlog")
ANSWER = "1"


@pytest.fixture
def authorities(tmp_path: Path) -> Path:
    """Give the file of the authority that all trust."""
    return OURS.written(tmp_path / "ca.pem")


@pytest.fixture
async def asking(database_dsn: str, tmp_path: Path, authorities: Path) -> AsyncIterator[PostgresFront]:
    """Give a server that asks its clients for a certificate."""
    async with PostgresFront(database_dsn, tmp_path / "server", OURS.issue(), authorities) as front:
        yield front


async def outcome(dsn: str) -> str:
    """Open a pool as the services do and ask something; give the answer, or why there is none."""
    try:
        async with await open_pool(dsn, 1, Limits(), WHO) as pool:
            return str(await pool.fetchval("select 1"))
    except (OSError, asyncpg.PostgresError) as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        (OURS.issue(), ANSWER),
        (OTHERS.issue(), "unable to get local issuer certificate"),
        (OURS.issue(lasts=YESTERDAY), "certificate has expired"),
        (OURS.issue(host="192.0.2.1"), "IP address mismatch"),
    ],
    ids=["right", "wrong authority", "expired", "wrong host"],
)
async def test_pools_go_over_tls_as_the_dsn_says(
    database_dsn: str, tmp_path: Path, authorities: Path, shown: Issued, said: str
) -> None:
    """With sslmode=verify-full a server that is not the one meant is refused, by both drivers, and each says why."""
    async with PostgresFront(database_dsn, tmp_path / "server", shown) as front:
        dsn = front.dsn(Tls(authorities))
        assert said in await outcome(dsn)
        if said == ANSWER:
            await asyncio.to_thread(migrate, dsn)
        else:
            with pytest.raises(DatabaseUnreachableError, match="certificate"):
                await asyncio.to_thread(migrate, dsn)


async def test_a_client_needs_a_certificate_where_it_is_asked_for_one(
    asking: PostgresFront, tmp_path: Path, authorities: Path
) -> None:
    """By sslcert and sslkey of the DSN: ours is taken; none, another's and an expired one are refused."""
    own = OURS.issue().written(tmp_path / "own", authorities)
    foreign = OTHERS.issue().written(tmp_path / "foreign", authorities)
    expired = OURS.issue(lasts=YESTERDAY).written(tmp_path / "expired", authorities)
    assert await outcome(asking.dsn(own)) == ANSWER
    for tls in (Tls(authorities), foreign, expired):
        assert "Error: " in await outcome(asking.dsn(tls))


async def test_a_pool_shows_its_renewed_certificate(asking: PostgresFront, tmp_path: Path, authorities: Path) -> None:
    """The files named in the DSN are read for each connection: a pool that lives on shows what is there then."""
    own = tmp_path / "own"
    dsn = asking.dsn(OURS.issue().written(own, authorities))
    async with await open_pool(dsn, 1, Limits(), WHO) as pool:
        assert await pool.fetchval("select 1") == 1
        OTHERS.issue().written(own)
        await pool.expire_connections()
        with pytest.raises((OSError, asyncpg.PostgresError)):
            await pool.fetchval("select 1")
        OURS.issue().written(own)
        assert await pool.fetchval("select 1") == 1


async def test_a_pool_takes_the_servers_renewed_certificate(
    database_dsn: str, tmp_path: Path, authorities: Path
) -> None:
    """A pool that lives on takes a new certificate of the server's, and of a new authority once its file has that."""
    async with (
        PostgresFront(database_dsn, tmp_path / "server", OURS.issue()) as front,
        await open_pool(front.dsn(Tls(authorities)), 1, Limits(), WHO) as pool,
    ):
        assert await pool.fetchval("select 1") == 1
        front.shown = OTHERS.issue()
        await pool.expire_connections()
        with pytest.raises(OSError, match="unable to get local issuer"):
            await pool.fetchval("select 1")
        OTHERS.written(authorities)
        assert await pool.fetchval("select 1") == 1
