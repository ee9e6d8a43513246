import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from hypothesis import given
from hypothesis import strategies as st

from baohuang.rpc.auth import (
    DevelopmentAuthenticator,
    InsecureListenError,
    NobodyAuthenticator,
    Role,
    authenticator_for,
)
from baohuang.rpc.call import current_caller
from baohuang.rpc.errors import Reason, Unauthenticated
from baohuang.rpc.server import RpcServer
from baohuang.rpc.status import read_details
from rpc.echo import METHODS, dev_settings, serving


async def who(_text: str, _context: object) -> str:
    caller = current_caller()
    return f"{caller.player}/{caller.role}"


@pytest.mark.parametrize("method", METHODS)
async def test_a_handler_knows_its_caller(method: str) -> None:
    """Each call sees its own caller, with the role he names, in every kind of method."""
    async with serving(who) as (_, client):
        bob = await client.call(method, "", (("baohuang-player", "bob"),))
        judge = await client.call(method, "", (("baohuang-player", "judge"), ("baohuang-role", "operator")))
    assert (bob[-1], judge[-1]) == ("bob/player", "judge/operator")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("metadata", [(), (("baohuang-player", "a b"),), (("baohuang-player", "x" * 65),)])
async def test_a_call_without_a_sound_player_is_refused(method: str, metadata: tuple[tuple[str, str], ...]) -> None:
    """No, or no valid, player id: UNAUTHENTICATED, naming the metadata key."""
    async with serving(who) as (_, client):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await client.call(method, "", metadata)
    details = read_details(caught.value)
    assert details is not None
    assert (details.reason, details.metadata) == (Reason.UNAUTHENTICATED, {"key": "baohuang-player"})


async def test_without_identities_only_health_answers() -> None:
    """A server not told how to know callers serves health and refuses the rest."""
    async with serving(who, dev_settings(insecure_dev=False)) as (_, client):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await client.call("Unary", "")
        health = await health_pb2_grpc.HealthStub(client.channel).Check(health_pb2.HealthCheckRequest())
    assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED
    assert health.status == health_pb2.HealthCheckResponse.SERVING


@pytest.mark.parametrize("listen", ["0.0.0.0:0", "[::]:0", "10.0.0.7:50051", "example.org:1", "localhost.evil.org:1"])
def test_development_identities_are_refused_off_loopback(listen: str) -> None:
    """A server that believes its clients does not come into being on an address others can reach."""
    with pytest.raises(InsecureListenError):
        RpcServer(dev_settings(), listen)


@pytest.mark.parametrize("listen", ["127.0.0.1:0", "127.1.2.3:9", "[::1]:0"])
def test_development_identities_are_for_loopback(listen: str) -> None:
    """Any loopback number will do."""
    assert isinstance(authenticator_for(listen, insecure_dev=True), DevelopmentAuthenticator)
    assert isinstance(authenticator_for(listen, insecure_dev=False), NobodyAuthenticator)


@given(st.text(max_size=80))
def test_only_the_documented_alphabet_makes_a_player(text: str) -> None:
    """A text is accepted, unchanged, exactly when it is 1 to 64 characters of the alphabet, the first alphanumeric."""
    alphanumeric = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
    sound = 1 <= len(text) <= 64 and text[0] in alphanumeric and set(text) <= alphanumeric | set("._@:-")
    try:
        caller = DevelopmentAuthenticator().authenticate([("baohuang-player", text)])
    except Unauthenticated:
        assert not sound
    else:
        assert sound
        assert (caller.player, caller.role) == (text, Role.PLAYER)


@given(st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._@:-]{0,63}", fullmatch=True), st.sampled_from(Role))
def test_every_documented_player_is_accepted(player: str, role: Role) -> None:
    """The alphabet's other half: nothing sound is refused."""
    caller = DevelopmentAuthenticator().authenticate([("baohuang-role", role), ("baohuang-player", player)])
    assert (caller.player, caller.role) == (player, role)
