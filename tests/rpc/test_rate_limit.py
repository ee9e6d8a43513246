import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from hypothesis import given
from hypothesis import strategies as st

from baohuang.rpc.auth import Caller, CallerId, Role
from baohuang.rpc.errors import Exhausted, Reason
from baohuang.rpc.rate_limit import RateLimit, RateLimiter
from baohuang.rpc.status import read_details
from rpc.echo import ALICE, METHODS, Client, dev_settings, serving

FOUR_A_SECOND = RateLimit(per_second=4.0, burst=3)


class Clock:
    """A monotonic clock that is set."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        """Read it."""
        return self.now


def player(name: str = "alice", role: Role = Role.PLAYER) -> Caller:
    return Caller(CallerId(name), role)


def admitted(limiter: RateLimiter, caller: Caller, calls: int) -> int:
    """Make so many calls at one moment and count those that pass."""
    return sum(passes(limiter, caller) for _ in range(calls))


def passes(limiter: RateLimiter, caller: Caller) -> bool:
    try:
        limiter.admit(caller)
    except Exhausted:
        return False
    return True


def test_after_a_burst_calls_pass_at_the_rate() -> None:
    """Three at once, then one each quarter of a second, and after a pause three again, never more."""
    clock = Clock()
    limiter = RateLimiter(FOUR_A_SECOND, clock)
    assert admitted(limiter, player(), 10) == 3
    for _ in range(5):
        clock.now += 0.25
        assert admitted(limiter, player(), 10) == 1
    clock.now += 3600
    assert admitted(limiter, player(), 10) == 3


def test_a_refusal_says_how_long_to_wait_and_costs_nothing() -> None:
    """However often one asks too early, after the time named, in whole milliseconds, the call passes."""
    clock = Clock()
    limiter = RateLimiter(FOUR_A_SECOND, clock)
    assert admitted(limiter, player(), 3) == 3
    clock.now += 0.125
    for _ in range(100):
        with pytest.raises(Exhausted) as caught:
            limiter.admit(player())
    assert (caught.value.reason, caught.value.metadata) == (Reason.RATE_LIMITED, {"retry_after_ms": "125"})
    clock.now += 0.125
    limiter.admit(player())


def test_players_do_not_pay_for_each_other() -> None:
    """Each has a bucket of his own."""
    limiter = RateLimiter(FOUR_A_SECOND, Clock())
    assert admitted(limiter, player("alice"), 10) == 3
    assert admitted(limiter, player("bob"), 10) == 3


@pytest.mark.parametrize("role", [Role.OPERATOR, Role.SERVICE])
def test_operators_and_services_are_not_limited(role: Role) -> None:
    """Nor do they use up a player's calls of the same name."""
    limiter = RateLimiter(FOUR_A_SECOND, Clock())
    assert admitted(limiter, player(role=role), 1000) == 1000
    assert admitted(limiter, player(), 10) == 3


def test_there_may_be_no_limit() -> None:
    """Infinity is a rate."""
    assert admitted(RateLimiter(RateLimit(float("inf"), 1), Clock()), player(), 1000) == 1000


def test_memory_is_bounded_and_keeps_who_called_last() -> None:
    """Ever new players push out the one who called longest ago, not the one who keeps calling."""
    clock = Clock()
    limiter = RateLimiter(FOUR_A_SECOND, clock, players_held=3)
    assert admitted(limiter, player("busy"), 3) == 3
    for number in range(100):
        clock.now += 0.25
        assert admitted(limiter, player("busy"), 2) == 1
        assert admitted(limiter, player(f"p{number}"), 3) == 3
        assert len(limiter._full_at) <= 3
    assert set(limiter._full_at) == {"busy", "p98", "p99"}


@given(st.lists(st.integers(0, 1000), max_size=200), st.sampled_from([0.5, 4.0, 64.0]), st.integers(1, 20))
def test_no_window_holds_more_than_burst_and_rate(pauses: list[int], per_second: float, burst: int) -> None:
    """Whenever calls come (in steps of 1/1024 s), those admitted in any stretch are at most burst + rate × length."""
    clock = Clock()
    limiter = RateLimiter(RateLimit(per_second, burst), clock)
    times = []
    for pause in pauses:
        clock.now += pause / 1024
        if passes(limiter, player()):
            times.append(clock.now)
    for first, start in enumerate(times):
        for last, end in enumerate(times[first:], first):
            assert last - first + 1 <= burst + (end - start) * per_second


async def echo(text: str, _context: object) -> str:
    return text


async def refused(client: Client, method: str, name: str) -> grpc.aio.AioRpcError | None:
    """Call and give the error that came back, if one did."""
    try:
        await client.call(method, "x", (("baohuang-player", name),))
    except grpc.aio.AioRpcError as error:
        return error
    return None


@pytest.mark.parametrize("method", METHODS)
async def test_too_many_calls_are_resource_exhausted(method: str) -> None:
    """In every kind of method, with reason and time to wait; other players and health are served on."""
    settings = dev_settings(rate_limit_per_second=0.01, rate_limit_burst=2)
    async with serving(echo, settings) as (_, client):
        assert [await refused(client, method, "alice") for _ in range(2)] == [None, None]
        error = await refused(client, method, "alice")
        assert await refused(client, method, "bob") is None
        for _ in range(5):
            await health_pb2_grpc.HealthStub(client.channel).Check(health_pb2.HealthCheckRequest())
    assert error is not None
    details = read_details(error)
    assert details is not None
    assert (error.code(), details.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, Reason.RATE_LIMITED)
    assert 90_000 < int(details.metadata["retry_after_ms"]) <= 100_000


async def test_the_messages_of_a_stream_are_one_call() -> None:
    """Its opening is counted; who serves commands on a stream asks the server's limiter for each."""
    settings = dev_settings(rate_limit_per_second=0.01, rate_limit_burst=1)
    async with serving(echo, settings) as (server, client):
        call = client.channel.stream_stream("/test.Echo/Both", None, None)(None, metadata=ALICE)
        for _ in range(10):
            await call.write(b"")
            assert await call.read() == b""
        await call.done_writing()
        with pytest.raises(Exhausted):
            server.limiter.admit(player())


@pytest.mark.parametrize("bad", [{"rate_limit_per_second": 0}, {"rate_limit_per_second": -1}, {"rate_limit_burst": 0}])
def test_a_limit_lets_something_through(bad: dict[str, float]) -> None:
    """A limit that nobody could meet is no setting."""
    with pytest.raises(ValueError, match="greater than"):
        dev_settings(**bad)
