"""Which trace a message belongs to gets from who added it to who publishes it, or is forgotten: nothing else is."""

from functools import partial

import pytest

from baohuang.database.pool import Pool
from baohuang.stream.connection import connect_to
from baohuang.stream.lease import Lease
from baohuang.stream.relay import Pace, Relay
from baohuang.stream.traces import POKE_HEADER, Traces, caused, in_traces_of
from baohuang.stream.working import at_work
from baohuang.tracing.carried import TRACEPARENT
from eventually import eventually
from stream.numbers import NUMBERS, Numbers, number, stored
from stream.test_relay import reached

SAMPLED = f"00-{'ab' * 16}-{'cd' * 8}-01"
UNSAMPLED = f"{SAMPLED[:-1]}0"


async def test_a_trace_goes_with_the_poke_of_who_stands_by(pool: Pool, nats_url: str) -> None:
    """What a replica adds is published, by the one that has the lease, with the header of the trace it was added in."""
    source, unhurried = Numbers(1), Pace(poll_seconds=3600, gather_seconds=0.001)
    publishing, by = (
        Relay(source, NUMBERS, Lease(pool, "numbers", 3600), connect_to(nats_url, "relay"), unhurried) for _ in range(2)
    )
    async with at_work(publishing):
        await eventually(lambda: reached(nats_url, 1))
        async with at_work(by):
            source.grow(2)
            by.traces.put([3], SAMPLED)
            by.poke()
            await eventually(partial(reached, nats_url, 3))
    headers = [headers.get(TRACEPARENT) for _, _, _, headers in await stored(nats_url)]
    assert headers == [None, None, SAMPLED]


def published(traces: Traces, *numbers: int) -> list[str | None]:
    """Publish messages and return the traces that they are published with."""
    with traces.publishing([number(n) for n in numbers]) as messages:
        return [message.headers.get(TRACEPARENT) for message in messages]


def test_what_is_published_is_forgotten() -> None:
    """Once, and with it whatever came before; what comes later is still known."""
    traces = Traces()
    traces.put([1, 2, 4], SAMPLED)
    assert published(traces, 2, 3) == [SAMPLED, None]
    assert published(traces, 1, 2, 3) == [None, None, None]
    assert published(traces, 4) == [SAMPLED]


def test_what_could_not_be_published_is_known_still() -> None:
    """A failure on the way forgets nothing: the same messages are published again."""
    traces = Traces()
    traces.put([1], SAMPLED)
    with pytest.raises(ConnectionError), traces.publishing([number(1)]):
        raise ConnectionError
    assert published(traces, 1) == [SAMPLED]


def test_the_oldest_are_forgotten() -> None:
    """However much is noted, no more is known than may be."""
    traces = Traces(known=3)
    traces.put(range(1, 1001), SAMPLED)
    assert published(traces, *range(995, 1001)) == [None, None, None, SAMPLED, SAMPLED, SAMPLED]


@pytest.mark.parametrize(
    "header",
    [
        "",
        ",",
        "1",
        f"-1 {SAMPLED}",
        f"one {SAMPLED}",
        f"１ {SAMPLED}",
        f"{'9' * 5000} {SAMPLED}",
        f"1 {UNSAMPLED}",
        f"1 {SAMPLED}{'0' * 5000}",
        "1 00-00000000000000000000000000000000-0000000000000000-01",
        f"{'x,' * 5000}1 {SAMPLED}",
    ],
)
def test_what_is_malformed_in_a_poke_is_ignored(header: str) -> None:
    """Nothing of it is believed, and nothing fails; a sound poke after it is heard."""
    traces = Traces()
    traces.hear(header)
    assert traces.say() is None
    traces.hear(f"7 {SAMPLED}")
    assert traces.say() == {POKE_HEADER: f"7 {SAMPLED}"}
    assert traces.say() is None


def test_what_the_source_has_goes_on_with_the_trace_of_what_was_received() -> None:
    """Message by message, and what the source has beside it has none."""
    other = Traces()
    other.put([2], SAMPLED)
    with other.publishing([number(1), number(2)]) as received:
        found = in_traces_of(received, [number(n) for n in (1, 2, 3)])
    assert [one.headers.get(TRACEPARENT) for one in found] == [None, SAMPLED, None]
    assert len(caused(found)) == 1
