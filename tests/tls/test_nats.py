import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from baohuang.embedded.child import Child
from baohuang.stream.address import NatsAddress
from baohuang.stream.connection import connect_to
from baohuang.stream.link import Link
from baohuang.stream.port import StreamUnavailable
from baohuang.tls.files import CertificateError, Tls
from eventually import eventually
from nats_servers import nats_with
from tls.authorities import Authority, Issued

OURS, OTHERS = Authority("ours"), Authority("others")
YESTERDAY = timedelta(days=-1)


@pytest.fixture
def authorities(tmp_path: Path) -> Path:
    """Give the file of the authority that all trust."""
    return OURS.written(tmp_path / "ca.pem")


@asynccontextmanager
async def nats_showing(folder: Path, shown: Issued, clients: Path | None = None) -> AsyncIterator[tuple[Child, str]]:
    """Run a nats-server with a certificate, and with mTLS if it is told of its clients' authority."""
    tls = shown.written(folder / "nats")
    files = {"cert_file": tls.certificate, "key_file": tls.key, "ca_file": clients, "verify": clients is not None}
    lines = "\n".join(f"{name}: {json.dumps(value, default=str)}" for name, value in files.items() if value)
    async with nats_with(folder, f"tls {{ {lines} }}") as (server, port):
        yield server, f"tls://127.0.0.1:{port}"


async def outcome(address: NatsAddress) -> str:
    """Connect and ask something; give "connected", or why not."""
    try:
        async with connect_to(address, "a test")() as client:
            await client.flush()
    except StreamUnavailable as error:
        return str(error).removeprefix(f"no connection to NATS at {address.where}: ")
    return "connected"


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        (OURS.issue(), "connected"),
        (OTHERS.issue(), "the server's certificate: unable to get local issuer certificate"),
        (OURS.issue(lasts=YESTERDAY), "the server's certificate: certificate has expired"),
        (OURS.issue(host="192.0.2.1"), "the server's certificate: IP address mismatch"),
    ],
    ids=["right", "wrong authority", "expired", "wrong host"],
)
async def test_a_server_is_known_by_its_certificate(
    tmp_path: Path, authorities: Path, shown: Issued, said: str
) -> None:
    """Nobody connects to a NATS that is not the one meant, and everybody says why."""
    async with nats_showing(tmp_path, shown) as (_, url):
        assert (await outcome(NatsAddress(url, Tls(authorities)))).startswith(said)


async def test_mutual_tls_takes_those_it_knows(tmp_path: Path, authorities: Path) -> None:
    """With a certificate of the authority a client is connected; without one, or with another's, it is not."""
    own, foreign = OURS.issue(), OTHERS.issue()
    async with nats_showing(tmp_path, OURS.issue(), authorities) as (_, url):
        assert await outcome(NatsAddress(url, own.written(tmp_path / "own", authorities))) == "connected"
        for tls in (Tls(authorities), foreign.written(tmp_path / "foreign", authorities)):
            assert await outcome(NatsAddress(url, tls)) != "connected"


async def test_files_that_are_not_sound_are_told_at_the_start(tmp_path: Path, authorities: Path) -> None:
    """A service with an expired certificate for NATS does not start, and names it."""
    expired = OURS.issue(lasts=YESTERDAY).written(tmp_path / "own", authorities)
    with pytest.raises(CertificateError, match="has expired"):
        connect_to(NatsAddress("tls://127.0.0.1:1", expired), "a test")
    with pytest.raises(CertificateError, match="has expired"):
        Link(NatsAddress("tls://127.0.0.1:1", expired), "a test", {})


async def test_a_server_that_would_talk_in_the_clear_is_told_nothing(tmp_path: Path, authorities: Path) -> None:
    """`tls://` means TLS: where the greeting does not ask for it, which anybody on the way can see to, we hang up."""
    async with nats_with(tmp_path, 'authorization { user: "u", password: "hunter2" }\ntrace: true') as (server, port):
        told = await outcome(NatsAddress(f"tls://u:hunter2@127.0.0.1:{port}", Tls(authorities)))
        assert "[CONNECT" not in server.program.log.read_text()
    assert told == "TlsNotOffered"


async def test_a_renewed_certificate_is_used_for_the_next_connection(tmp_path: Path, authorities: Path) -> None:
    """The server reloads one of another authority; a client whose files are replaced too connects, without restart."""
    files = Tls(authorities)
    async with nats_showing(tmp_path, OURS.issue()) as (server, url):
        connect = connect_to(NatsAddress(url, files), "a test")
        async with connect():
            OTHERS.issue().written(tmp_path / "nats")
            server.send(signal.SIGHUP)

            async def refused() -> bool:
                return "unable to get local issuer" in await outcome(NatsAddress(url, files))

            await eventually(refused)
        OTHERS.written(authorities)
        async with connect() as client:
            await client.flush()


async def test_a_link_over_tls_ends_in_time(tmp_path: Path, authorities: Path) -> None:
    """However often its end is asked for meanwhile: the server may never say that it has closed its side."""
    async with nats_showing(tmp_path, OURS.issue()) as (_, url), asyncio.timeout(20):
        for _ in range(2):
            async with Link(NatsAddress(url, Tls(authorities)), "ending", {}) as link:
                await link.until_there()


async def test_a_link_goes_over_tls_and_tells_why_it_does_not(tmp_path: Path, authorities: Path) -> None:
    """Pokes are sent and heard over TLS; a link to a server that is not the one meant logs why it is away."""
    heard: list[bytes] = []
    async with nats_showing(tmp_path, OURS.issue()) as (_, url):
        address, foreign = NatsAddress(url, Tls(authorities)), Tls(OTHERS.written(tmp_path / "other.pem"))
        listening = Link(address, "listening", {"said": lambda _, payload: heard.append(payload)})
        async with listening, Link(address, "saying", {}) as saying:
            await listening.until_there()
            await saying.until_there()
            saying.publish("said", b"something")

            async def arrived() -> bool:
                return heard == [b"something"]

            await eventually(arrived)
        with capture_logs() as logged:
            async with Link(NatsAddress(url, foreign), "lost", {}):

                async def told() -> bool:
                    return bool(logged)

                await eventually(told)
    assert logged[0]["event"] == "NATS is away"
    assert logged[0]["why"] == "the server's certificate: unable to get local issuer certificate"
