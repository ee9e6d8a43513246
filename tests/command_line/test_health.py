"""`baohuang health`: what a service says of itself, of servers that run."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2_grpc
from typer.testing import CliRunner, Result

from baohuang.embedded.ports import free_port
from baohuang.rpc.health import Health
from baohuang.rpc.server import RpcServer
from baohuang.rpc.settings import ServerSettings
from baohuang.tls.files import Tls
from command_line.main import app
from rpc.echo import SERVICE, dev_settings
from tls.authorities import Authority

OURS = Authority("ours")


@asynccontextmanager
async def serving(settings: ServerSettings) -> AsyncIterator[tuple[RpcServer, str]]:
    """Run a server that reports one service; give it with its address."""
    server = RpcServer(settings, "127.0.0.1:0")
    port = await server.start(SERVICE)
    try:
        yield server, f"127.0.0.1:{port}"
    finally:
        await server.drain()


async def asked(*arguments: object, **variables: str) -> Result:
    """Run the command beside the server, told nothing but this."""
    bare = dict.fromkeys((f"BAOHUANG_TLS_{name}" for name in ("CA", "CERT", "KEY")), None)
    runner = CliRunner(env={**bare, **{f"BAOHUANG_TLS_{name}": text for name, text in variables.items()}})
    return await asyncio.to_thread(lambda: runner.invoke(app, ["health", *map(str, arguments)]))


async def test_who_serves_is_said_to() -> None:
    """As a whole, and by the name of a service; one that is not there is named."""
    async with serving(dev_settings(refuse_seconds=0.0)) as (_, address):
        for arguments in ((address,), (address, "--service", SERVICE)):
            found = await asked(*arguments)
            assert (found.exit_code, found.stdout) == (0, f"{address}: SERVING\n")
        other = await asked(address, "--service", "baohuang.table.v1.TableService")
        assert (other.exit_code, other.stderr) == (1, f"{address}: serves no baohuang.table.v1.TableService\n")


async def test_who_goes_does_not_serve() -> None:
    """What a server says from SIGTERM on, as long as it listens."""
    going, server = Health(), grpc.aio.server()
    health_pb2_grpc.add_HealthServicer_to_server(going, server)
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await server.start()
    going.goes()
    found = await asked(address)
    await server.stop(None)
    assert (found.exit_code, found.stderr) == (1, f"{address}: NOT_SERVING\n")


async def test_nobody_is_named() -> None:
    """Where nothing listens, and where what listens does not answer."""
    address = f"127.0.0.1:{free_port()}"
    found = await asked(address)
    assert found.exit_code == 1
    assert found.stderr.startswith(f"{address}: no answer: UNAVAILABLE: ")
    assert found.stderr.count("\n") == 1
    with socket.create_server(("127.0.0.1", 0)) as silent:
        mute = await asked(f"127.0.0.1:{silent.getsockname()[1]}", "--seconds", 0.2)
    assert (mute.exit_code, "DEADLINE_EXCEEDED" in mute.stderr) == (1, True)


async def test_an_address_that_is_none_is_refused() -> None:
    """By the name of the argument."""
    found = await asked("table")
    assert found.exit_code == 2
    assert "ADDRESS" in found.stderr


def over_tls(files: Tls) -> ServerSettings:
    """Return settings of a server that shows a certificate, wants one, and tells its health in the clear beside."""
    return dev_settings(
        tls_cert=files.certificate,
        tls_key=files.key,
        tls_client_ca=files.authorities,
        probe_listen="127.0.0.1:0",
        refuse_seconds=0.0,
    )


async def test_over_tls(tmp_path: Path) -> None:
    """By its options, or by the variables that a service has; what is not sound, or not trusted, is told."""
    files = OURS.issue().written(tmp_path, OURS.written(tmp_path / "ca.pem"))
    async with serving(over_tls(files)) as (server, address):
        options = ("--ca", files.authorities, "--cert", files.certificate, "--key", files.key)
        told = {"CA": str(files.authorities), "CERT": str(files.certificate), "KEY": str(files.key)}
        assert [(await asked(address, *options)).exit_code, (await asked(address, **told)).exit_code] == [0, 0]
        probe = f"127.0.0.1:{server.probe_port}"
        assert (await asked(probe, "--in-the-clear", **told)).exit_code == 0
        assert (await asked(address)).exit_code == 1
        untrusted = await asked(address, "--ca", Authority("others").written(tmp_path / "others.pem"))
        assert (untrusted.exit_code, "CERTIFICATE_VERIFY_FAILED" in untrusted.stderr) == (1, True)
        missing = await asked(address, "--ca", tmp_path / "nothing.pem")
        assert (missing.exit_code, missing.stderr.startswith(f"{address}: cannot read ")) == (1, True)


async def test_in_a_service_s_own_pod(tmp_path: Path) -> None:
    """At the loopback address, which its certificate does not have: by the name that it has, and by no other."""
    files = OURS.issue(host="table").written(tmp_path, OURS.written(tmp_path / "ca.pem"))
    told = {"CA": str(files.authorities), "CERT": str(files.certificate), "KEY": str(files.key)}
    async with serving(over_tls(files)) as (server, address):
        assert (await asked(address, "--name", "table", **told)).exit_code == 0
        assert (await asked(f"127.0.0.1:{server.probe_port}", "--in-the-clear", **told)).exit_code == 0
        for other in ((), ("--name", "rating")):
            found = await asked(address, *other, **told)
            assert (found.exit_code, "Hostname Verification Check failed" in found.stderr) == (1, True)


@pytest.mark.parametrize("clear", [(), ("--in-the-clear", "--ca", "ca.pem")])
async def test_a_name_is_of_a_certificate(clear: tuple[str, ...]) -> None:
    """In the clear there is none to look for it in: refused, not left out."""
    found = await asked("127.0.0.1:1", "--name", "table", *clear)
    assert (found.exit_code, "--name" in found.stderr) == (2, True)


@pytest.mark.parametrize("lone", ["--cert", "--key"])
async def test_a_certificate_comes_with_its_key(lone: str, tmp_path: Path) -> None:
    """One without the other is told, not left out."""
    found = await asked("127.0.0.1:1", lone, tmp_path)
    assert (found.exit_code, found.stderr) == (1, "127.0.0.1:1: a certificate and its key go together\n")
