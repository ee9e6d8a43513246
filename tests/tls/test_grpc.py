from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from baohuang.client.calls import channel_to
from baohuang.rpc.server import RpcServer
from baohuang.rpc.settings import ServerSettings
from baohuang.tls.channel import RenewedChannel
from baohuang.tls.files import CertificateError, Tls
from eventually import eventually
from rpc.echo import ALICE, SERVICE, Client, dev_settings, handlers
from tls.authorities import Authority, Issued

OURS, OTHERS = Authority("ours"), Authority("others")
YESTERDAY = timedelta(days=-1)


@pytest.fixture
def authorities(tmp_path: Path) -> Path:
    """Give the file of the authority that all trust."""
    return OURS.written(tmp_path / "ca.pem")


async def echo(text: str, _context: object) -> str:
    return text


@asynccontextmanager
async def serving(settings: ServerSettings) -> AsyncIterator[str]:
    """Run the echo service and give its address."""
    server = RpcServer(settings, "127.0.0.1:0")
    server.grpc.add_generic_rpc_handlers((handlers(echo),))
    port = await server.start(SERVICE)
    yield f"127.0.0.1:{port}"
    await server.drain()


def settings_of(tls: Tls, **more: Any) -> ServerSettings:
    """Give settings of a server with such files; its authorities are those of its clients."""
    quick = {"drain_grace_seconds": 0.2, "refuse_seconds": 0.0}
    return dev_settings(tls_cert=tls.certificate, tls_key=tls.key, tls_client_ca=tls.authorities, **quick, **more)


async def answer(address: str, tls: Tls | None) -> str:
    """Call on a fresh connection; give the echo, or what the client says went wrong."""
    async with channel_to(address, tls) as channel:
        try:
            return (await Client(channel).call("Unary", "hello"))[0]
        except grpc.aio.AioRpcError as failed:
            return f"{failed.code().name}: {failed.details()}"


async def test_a_call_over_tls_is_served(tmp_path: Path, authorities: Path) -> None:
    """With TLS alone whoever trusts the authority is served; in the clear nobody is."""
    async with serving(settings_of(OURS.issue().written(tmp_path))) as address:
        assert await answer(address, Tls(authorities)) == "hello"
        assert (await answer(address, None)).startswith("UNAVAILABLE")


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        (OTHERS.issue(), "CERTIFICATE_VERIFY_FAILED: unable to get local issuer certificate"),
        (OURS.issue(host="table.example"), "Hostname Verification Check failed"),
    ],
    ids=["wrong authority", "wrong host name"],
)
async def test_a_server_that_is_not_the_one_meant_is_refused(
    tmp_path: Path, authorities: Path, shown: Issued, said: str
) -> None:
    """The client calls nobody whose certificate is of another authority or host, and says why."""
    async with serving(settings_of(shown.written(tmp_path))) as address:
        told = await answer(address, Tls(authorities))
    assert told.startswith("UNAVAILABLE")
    assert said in told


async def test_a_server_whose_certificate_has_expired_is_refused(authorities: Path) -> None:
    """Whoever it is that shows it, since no service of ours starts with it: the client says why it does not call."""
    expired, server = OURS.issue(lasts=YESTERDAY), grpc.aio.server()
    shown = grpc.ssl_server_credentials([(expired.key, expired.certificate)])
    port = server.add_secure_port("127.0.0.1:0", shown)
    await server.start()
    assert "certificate has expired" in await answer(f"127.0.0.1:{port}", Tls(authorities))
    await server.stop(None)


async def test_a_server_does_not_start_with_files_that_are_not_sound(tmp_path: Path) -> None:
    """An expired certificate is named at the start, before anybody is served."""
    server = RpcServer(settings_of(OURS.issue(lasts=YESTERDAY).written(tmp_path)), "127.0.0.1:0")
    with pytest.raises(CertificateError, match=r"tls\.crt has expired"):
        await server.start()


async def test_mutual_tls_takes_those_it_knows(tmp_path: Path, authorities: Path) -> None:
    """A client with a certificate of the authority is served; one with none, or another's, is cut off."""
    own = OURS.issue().written(tmp_path / "client", authorities)
    foreign = OTHERS.issue().written(tmp_path / "foreign", authorities)
    async with serving(settings_of(OURS.issue().written(tmp_path / "server", authorities))) as address:
        told = [await answer(address, tls) for tls in (own, Tls(authorities), foreign, own)]
    assert [told[0], told[3]] == ["hello", "hello"]
    assert [one.startswith("UNAVAILABLE: ") for one in told[1:3]] == [True, True]


async def test_a_client_does_not_connect_with_an_expired_certificate(tmp_path: Path, authorities: Path) -> None:
    """Its own mistake is told before anything is sent."""
    expired = OURS.issue(lasts=YESTERDAY).written(tmp_path / "client", authorities)
    with pytest.raises(CertificateError, match=r"client/tls\.crt has expired"):
        channel_to("127.0.0.1:1", expired)


async def test_mutual_tls_refuses_an_expired_certificate(tmp_path: Path, authorities: Path) -> None:
    """A client that is not ours, and shows an expired certificate all the same, is cut off."""
    expired = OURS.issue(lasts=YESTERDAY)
    shown = grpc.ssl_channel_credentials(OURS.pem, expired.key, expired.certificate)
    async with (
        serving(settings_of(OURS.issue().written(tmp_path / "server", authorities))) as address,
        grpc.aio.secure_channel(address, shown) as channel,
    ):
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await Client(channel).call("Unary", "hello")
    assert refused.value.code() is grpc.StatusCode.UNAVAILABLE


async def test_a_renewed_server_certificate_is_shown_to_the_next_who_connects(
    tmp_path: Path, authorities: Path
) -> None:
    """The files are replaced by those of another authority: clients that trust that one are served, without restart."""
    other = OTHERS.written(tmp_path / "other.pem")
    async with serving(settings_of(OURS.issue().written(tmp_path))) as address:
        assert await answer(address, Tls(authorities)) == "hello"
        OTHERS.issue().written(tmp_path)

        async def renewed() -> bool:
            return await answer(address, Tls(other)) == "hello"

        await eventually(renewed)
        assert "CERTIFICATE_VERIFY_FAILED" in await answer(address, Tls(authorities))


async def test_a_channel_goes_on_with_renewed_files_while_its_streams_end_in_peace(
    tmp_path: Path, authorities: Path
) -> None:
    """The stream from before the renewal goes on; the next call, on the same stub, shows the new certificate."""
    first, second = OURS.issue("first"), OURS.issue("second")
    server, own = OURS.issue().written(tmp_path / "server", authorities), first.written(tmp_path / "own", authorities)
    async with serving(settings_of(server)) as address, RenewedChannel(address, own, (), look_seconds=0.0) as channel:
        unary = channel.unary_unary(f"/{SERVICE}/Unary", None, None)
        stream = channel.stream_stream(f"/{SERVICE}/Both", None, None)(metadata=ALICE)
        await stream.write(b"\n\x03one")
        assert await stream.read() == b"\n\x03one"
        before = channel.newest()
        second.written(tmp_path / "own")
        assert await unary(b"\n\x03two", metadata=ALICE) == b"\n\x03two"
        assert channel.newest() is not before
        await stream.write(b"\n\x05three")
        assert await stream.read() == b"\n\x05three"
        await stream.done_writing()


async def test_probes_that_know_no_tls_are_told_the_health_and_nothing_else(tmp_path: Path, authorities: Path) -> None:
    """Kubernetes' own gRPC probes speak in the clear: the address for them says SERVING, and serves no calls."""
    settings = settings_of(OURS.issue().written(tmp_path, authorities), probe_listen="127.0.0.1:0")
    server = RpcServer(settings, "127.0.0.1:0")
    server.grpc.add_generic_rpc_handlers((handlers(echo),))
    await server.start(SERVICE)
    async with grpc.aio.insecure_channel(f"127.0.0.1:{server.probe_port}") as channel:
        health = await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(service=SERVICE))
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await Client(channel).call("Unary", "hello")
    await server.drain()
    assert health.status == health_pb2.HealthCheckResponse.SERVING
    assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED
