import json
import time
from pathlib import Path
from typing import Any

import grpc
import jwt
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from baohuang.rpc.call import current_caller
from baohuang.rpc.errors import Reason
from baohuang.rpc.key_ring import KeysUnavailableError
from baohuang.rpc.server import RpcServer
from baohuang.rpc.settings import ServerSettings
from baohuang.rpc.status import read_details
from eventually import eventually
from rpc.echo import METHODS, Client, dev_settings, serving
from rpc.signers import Signer, bearer, ed25519, jwks, rsa


async def who(_text: str, _context: object) -> str:
    caller = current_caller()
    return f"{caller.player}/{caller.role}"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Give the file of a JWK set with one key."""
    path = tmp_path / "jwks.json"
    path.write_bytes(jwks(ed25519()))
    return path


def settings(file: Path, **changes: Any) -> ServerSettings:
    return dev_settings(**{"insecure_dev": False, "jwks": str(file)} | changes)


def token(signer: Signer | None = None, **claims: Any) -> tuple[tuple[str, str], ...]:
    """Give the metadata of a token of now."""
    return bearer((signer or ed25519()).token(time.time(), **claims))


async def problem(client: Client, method: str, metadata: Any) -> str:
    """Call, be refused as unauthenticated, and give what was wrong."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await client.call(method, "", metadata)
    details = read_details(caught.value)
    assert details is not None
    assert (caught.value.code(), details.reason) == (grpc.StatusCode.UNAUTHENTICATED, Reason.UNAUTHENTICATED)
    return details.metadata["problem"]


@pytest.mark.parametrize("method", METHODS)
async def test_a_handler_knows_its_caller_by_his_token(method: str, file: Path) -> None:
    """Subject and role of the token, in every kind of method; a word beside it counts for nothing."""
    async with serving(who, settings(file)) as (_, client):
        alice = await client.call(method, "", (*token(), ("baohuang-player", "bob"), ("baohuang-role", "operator")))
        judge = await client.call(method, "", token(sub="judge", role="operator"))
    assert (alice[-1], judge[-1]) == ("alice/player", "judge/operator")


def unsigned() -> str:
    """Give a token that names a key of the set, and says that nothing is signed."""
    claims = {"sub": "alice", "aud": "baohuang", "iss": "us", "exp": time.time() + 60}
    return jwt.encode(claims, "", "none", {"kid": "ed"})


@pytest.mark.parametrize("method", METHODS)
async def test_without_a_sound_token_only_health_answers(method: str, file: Path) -> None:
    """The refusal says what is wrong in machine's words."""
    async with serving(who, settings(file, jwt_issuer="us")) as (_, client):
        assert await problem(client, method, ()) == "MISSING"
        assert await problem(client, method, (("baohuang-player", "alice"),)) == "MISSING"
        assert await problem(client, method, (("authorization", "Bearer x"),)) == "MALFORMED"
        assert await problem(client, method, token(iss="us", exp=1)) == "EXPIRED"
        assert await problem(client, method, token(iss="us", nbf=time.time() + 60)) == "NOT_YET_VALID"
        impostor = Signer("ed", ed25519("other").private)
        assert await problem(client, method, token(impostor, iss="us")) == "WRONG_SIGNATURE"
        assert await problem(client, method, bearer(unsigned())) == "MALFORMED"
        assert await problem(client, method, token(iss="them")) == "WRONG_ISSUER"
        assert await problem(client, method, token(iss="us", aud="them")) == "WRONG_AUDIENCE"
        assert await problem(client, method, token(ed25519("other"), iss="us")) == "UNKNOWN_KEY"
        assert await client.call(method, "", token(iss="us"))
        health = await health_pb2_grpc.HealthStub(client.channel).Check(health_pb2.HealthCheckRequest())
    assert health.status == health_pb2.HealthCheckResponse.SERVING


async def test_both_may_be_on(file: Path) -> None:
    """A token wins; without one the word counts; a bad token does not fall back to it."""
    word = (("baohuang-player", "bob"),)
    async with serving(who, settings(file, insecure_dev=True)) as (_, client):
        assert await client.call("Unary", "", word) == ["bob/player"]
        assert await client.call("Unary", "", (*word, *token())) == ["alice/player"]
        assert await problem(client, "Unary", (*word, *token(rsa()))) == "UNKNOWN_KEY"


async def test_a_rotated_file_is_followed(file: Path) -> None:
    """A new key gets in and the withdrawn one out while the server runs, also for a token it remembers."""
    old, new = token(), token(rsa())
    async with serving(who, settings(file)) as (_, client):
        assert await client.call("Unary", "", old) == ["alice/player"]
        file.write_bytes(jwks(rsa()))  # noqa: ASYNC240 - a small file
        await eventually(lambda: accepted(client, new))
        assert await problem(client, "Unary", old) == "UNKNOWN_KEY"


async def accepted(client: Client, metadata: Any) -> bool:
    """Tell whether a call with this metadata is served."""
    return await outcome(client, metadata) is grpc.StatusCode.OK


async def outcome(client: Client, metadata: Any) -> grpc.StatusCode:
    """Give the status of a call with this metadata."""
    try:
        await client.call("Unary", "", metadata)
    except grpc.aio.AioRpcError as error:
        return error.code()
    return grpc.StatusCode.OK


async def test_a_stream_outlives_its_token(file: Path) -> None:
    """Open when its token expires, it goes on; the next call with that token is refused."""
    fading = token(exp=time.time() - 3)
    async with serving(who, settings(file)) as (_, client):
        stream = client.channel.stream_stream("/test.Echo/Both", None, None)(None, metadata=fading)
        await stream.write(b"")
        assert await stream.read()
        await eventually(lambda: refused(client, fading))
        await stream.write(b"")
        assert await stream.read()
        await stream.done_writing()


async def refused(client: Client, metadata: Any) -> bool:
    """Tell whether a call with this metadata is not served."""
    return not await accepted(client, metadata)


@pytest.mark.parametrize("value", ["", "a", "Bearer a.b.c, d", "Bearer " + "a" * 5000, "~" * 7000])
async def test_no_header_is_internal(value: str, file: Path) -> None:
    """What gRPC carries is refused as unauthenticated, and the server lives on."""
    async with serving(who, settings(file)) as (_, client):
        assert await outcome(client, (("authorization", value),)) is grpc.StatusCode.UNAUTHENTICATED
        assert await client.call("Unary", "", token()) == ["alice/player"]


@pytest.mark.parametrize("content", [None, b"", b"{}", json.dumps({"keys": [{"kty": "oct", "k": "x"}]}).encode()])
async def test_a_server_without_keys_does_not_start(content: bytes | None, tmp_path: Path) -> None:
    """Told to check tokens, and no keys to do it with: it says so, and nothing listens."""
    path = tmp_path / "jwks.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(KeysUnavailableError, match="BAOHUANG_JWKS"):
        await RpcServer(settings(path), "127.0.0.1:0").start()
