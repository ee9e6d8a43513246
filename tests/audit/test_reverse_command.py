"""`baohuang reverse`, as an operator has it: by the data folder's key, against a service that wants tokens."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import msgspec
import pytest
from typer.testing import CliRunner, Result

from audit.honest import Play, written
from baohuang.eventlog.codec import decode
from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import StreamId
from baohuang.rpc.auth import Caller, CallerId, Role
from baohuang.rules import events as ev
from baohuang.rules.state import TableId
from command_line.development_key import AUDIENCE, ISSUER, DevelopmentKey, jwks_path
from command_line.main import app
from tables.replicas import Replica, replica
from tls.authorities import Authority

TABLE = TableId("01234567-89ab-7def-8123-456789012340")


@asynccontextmanager
async def serving(data: Path, **more: object) -> AsyncIterator[Replica]:
    """Serve, trusting a folder's key, with a hand that trustees played: a fine, and the hand void."""
    DevelopmentKey.made_or_found(data)
    log = MemoryLog()
    commands = list(Play(TABLE, "homy-standard", 1).all_trustees())
    await written(log, TABLE, [one for one in commands if not isinstance(one[1][0], ev.FineReversed | ev.VoidReversed)])
    trust = {"insecure_dev": False, "jwks": str(jwks_path(data)), "jwt_issuer": ISSUER, "jwt_audience": AUDIENCE}
    async with replica(log, **trust, **more) as service:  # type: ignore[arg-type] # settings of all kinds
        yield service


@asynccontextmanager
async def answering_nothing() -> AsyncIterator[str]:
    """Serve what goes away over every call; give its address."""

    async def reverse(_: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
        await context.abort(grpc.StatusCode.UNAVAILABLE, "gone")

    server = grpc.aio.server()
    methods = {"ReverseRuling": grpc.unary_unary_rpc_method_handler(reverse)}
    handler = grpc.method_handlers_generic_handler("baohuang.history.v1.HistoryService", methods)
    server.add_generic_rpc_handlers((handler,))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    yield f"127.0.0.1:{port}"
    await server.stop(None)


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Replica]:
    """Give that service in the clear."""
    async with serving(tmp_path) as made:
        yield made


async def run(service: Replica, data: Path, *arguments: str) -> Result:
    """Run the command against the service, with the key of a data folder."""
    asked = ["reverse", *arguments, "--reason", "our fault", "--data", str(data), "--address", service.address]
    return await asyncio.to_thread(CliRunner().invoke, app, asked)


async def version_of(service: Replica, kind: type[ev.Event]) -> str:
    """Return the version of the event of a kind."""
    events = await service.log.read_stream(StreamId(TABLE), limit=10_000)
    return next(str(event.version) for event in events if event.type == kind.__name__)


async def test_an_operator_takes_rulings_back(service: Replica, tmp_path: Path) -> None:
    """Each once; the second time it is refused with the clause, and exit code 1; in words and as JSON."""
    fined, voided = await version_of(service, ev.PlayerFined), await version_of(service, ev.HandVoided)
    done = await run(service, tmp_path, TABLE, fined)
    assert (done.exit_code, "taken back at version" in done.stdout) == (0, True), done.output
    done = await run(service, tmp_path, TABLE, voided, "--json", "--operator", "olga")
    last = (await service.log.read_stream(StreamId(TABLE), limit=10_000))[-1]
    assert msgspec.json.decode(done.stdout) == {"table": TABLE, "version": last.version, "hash": last.hash.hex()}
    event = decode(last.type, last.data)
    assert isinstance(event, ev.VoidReversed)
    assert (event.note, last.actor) == ("our fault", "olga")
    done = await run(service, tmp_path, TABLE, voided)
    assert (done.exit_code, "ALREADY_REVERSED" in done.output, "(RULE-1)" in done.output) == (1, True, True)
    done = await run(service, tmp_path, TABLE, "1", "--json")
    assert (done.exit_code, msgspec.json.decode(done.stdout)["refused"]) == (1, "NOT_A_RULING")


async def test_a_retry_by_its_request_id(service: Replica, tmp_path: Path) -> None:
    """Who had no answer learns what became of it."""
    fined = await version_of(service, ev.PlayerFined)
    told = [await run(service, tmp_path, TABLE, fined, "--json", "--request-id", "once") for _ in range(2)]
    assert told[0].exit_code == told[1].exit_code == 0
    assert told[0].stdout == told[1].stdout


async def test_who_is_no_operator(service: Replica, tmp_path: Path) -> None:
    """A player's token is refused: 1. A folder without a key, a name that is none: 2, and nothing is asked."""
    fined = await version_of(service, ev.PlayerFined)
    token = DevelopmentKey.of(tmp_path).token(Caller(CallerId("an"), Role.PLAYER), 60.0)
    done = await run(service, tmp_path, TABLE, fined, "--token", token)
    assert (done.exit_code, "PERMISSION_DENIED" in done.output) == (1, True)
    assert (await run(service, tmp_path / "none", TABLE, fined)).exit_code == 2
    assert (await run(service, tmp_path, TABLE, fined, "--operator", "a b")).exit_code == 2


async def test_over_tls(tmp_path: Path) -> None:
    """With the authorities of the service's certificate; a file that is none is told: 2."""
    ours = Authority("ours")
    shown, ca = ours.issue().written(tmp_path / "shown"), ours.written(tmp_path / "ca.pem")
    async with serving(tmp_path, tls_cert=shown.certificate, tls_key=shown.key) as service:
        fined = await version_of(service, ev.PlayerFined)
        assert (await run(service, tmp_path, TABLE, fined, "--ca", str(tmp_path / "none.pem"))).exit_code == 2
        done = await run(service, tmp_path, TABLE, fined, "--ca", str(ca))
        assert done.exit_code == 0, done.output


async def test_a_service_that_is_away(tmp_path: Path) -> None:
    """Exit code 2, and the request id to ask again with; without a data folder's address nothing is asked."""
    DevelopmentKey.made_or_found(tmp_path)
    asked = ["reverse", TABLE, "1", "--reason", "x", "--data", str(tmp_path)]
    async with answering_nothing() as address:
        done = await asyncio.to_thread(CliRunner().invoke, app, [*asked, "--address", address])
        assert (done.exit_code, "it may be done" in done.output, "--request-id" in done.output) == (2, True, True)
        once = [*asked, "--address", address, "--json", "--request-id", "once"]
        done = await asyncio.to_thread(CliRunner().invoke, app, once)
        told = msgspec.json.decode(done.stdout)
        assert (done.exit_code, told["requestId"], "unanswered" in told) == (2, "once", True), done.output
    done = await asyncio.to_thread(CliRunner().invoke, app, asked)
    assert (done.exit_code, "--data" in done.output) == (2, True), done.output


@pytest.mark.parametrize("address", ["nowhere.invalid:1", "no address", "127.0.0.1"])
async def test_an_address_where_no_service_is(tmp_path: Path, address: str) -> None:
    """Exit code 2, and that nothing was sent; in words and as JSON."""
    DevelopmentKey.made_or_found(tmp_path)
    asked = ["reverse", TABLE, "1", "--reason", "x", "--data", str(tmp_path), "--address", address]
    done = await asyncio.to_thread(CliRunner().invoke, app, asked)
    assert (done.exit_code, "nothing was sent" in done.output, "may be done" in done.output) == (2, True, False)
    done = await asyncio.to_thread(CliRunner().invoke, app, [*asked, "--json", "--request-id", "once"])
    told = msgspec.json.decode(done.stdout)
    assert (done.exit_code, told["requestId"], "nothing was sent" in told["notSent"]) == (2, "once", True)


async def test_a_version_beyond_all(service: Replica, tmp_path: Path) -> None:
    """Refused with the field, as any other that there is not: 1."""
    done = await run(service, tmp_path, TABLE, str(2**31), "--json")
    assert (done.exit_code, msgspec.json.decode(done.stdout)["refused"]) == (1, "INVALID_FIELD")
