"""Services as processes, everything between them over mTLS: what a deployment sets, read as it will be."""

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from baohuang.client import DevelopmentIdentity, Patience, Tls, UnreachableError, connect, connect_matchmaking
from baohuang.rules.state import PlayerId
from nats_servers import nats_with
from tls.authorities import Authority
from tls.postgres_front import PostgresFront

OURS = Authority("ours")
WHO = DevelopmentIdentity(PlayerId("an"))
ONCE = Patience(attempts=1)
_START_SECONDS = 60.0


@asynccontextmanager
async def process(module: str, environment: Mapping[str, str]) -> AsyncIterator[str]:
    """Run a service, told all it is told by its environment, and give its address."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("BAOHUANG_")}
    command = (sys.executable, "-m", module)
    running = await asyncio.create_subprocess_exec(*command, env={**kept, **environment}, stdout=PIPE, stderr=DEVNULL)
    assert running.stdout is not None
    try:
        line = (await asyncio.wait_for(running.stdout.readline(), _START_SECONDS)).decode()
        assert line.startswith("listening on "), line
        yield line.removeprefix("listening on ").strip()
    finally:
        running.terminate()
        await running.wait()


def environment(tls: Tls, dsn: str, nats_url: str) -> dict[str, str]:
    """Return what every service is told: one certificate for all it does."""
    files = {"CERT": tls.certificate, "KEY": tls.key, "CA": tls.authorities}
    return {
        "BAOHUANG_INSECURE_DEV": "true",
        "BAOHUANG_POSTGRES_DSN": dsn,
        "BAOHUANG_NATS_URL": nats_url,
        "BAOHUANG_TLS_CLIENT_CA": str(tls.authorities),
        **{f"BAOHUANG_{peer}_{name}": str(path) for peer in ("TLS", "NATS") for name, path in files.items()},
    }


async def test_everything_goes_over_mutual_tls(own_database_dsn: str, tmp_path: Path) -> None:
    """Five queue at matchmaking and are seated, with certificates asked for on both sides of every connection.

    A client without one is told nothing.
    """
    authorities = OURS.written(tmp_path / "ca.pem")
    tls = OURS.issue().written(tmp_path / "service", authorities)
    nats = f'tls {{ cert_file: "{tls.certificate}", key_file: "{tls.key}", ca_file: "{authorities}", verify: true }}'
    async with (
        PostgresFront(own_database_dsn, tmp_path / "postgres", OURS.issue(), authorities) as postgres,
        nats_with(tmp_path, nats) as (server, port),
    ):
        told = environment(tls, postgres.dsn(tls), f"tls://127.0.0.1:{port}")
        async with (
            process("table_service.main", told) as table,
            process("matchmaking_service.main", {**told, "BAOHUANG_TABLE_ADDRESS": table}) as matchmaking,
        ):
            tables = await asyncio.gather(*(seated(matchmaking, f"player-{number}", tls) for number in range(5)))
            assert len(set(tables)) == 1
            with pytest.raises(UnreachableError):
                async with connect(table, WHO, ONCE, tls=Tls(authorities)) as stranger:
                    await stranger.open_table("ourgame-simple")
        assert "TLS handshake error" not in server.program.log.read_text()


async def seated(matchmaking: str, name: str, tls: Tls) -> str:
    """Queue and give the table of the match."""
    async with connect_matchmaking(matchmaking, DevelopmentIdentity(PlayerId(name)), tls=tls) as queues:
        ticket = await queues.create_ticket("ourgame-simple")
        closed = await queues.closed(ticket.ticket_id)
    assert closed.matched is not None
    return closed.matched.table_id
