"""The timer of a subscription: signs of life in time, and an end to what stands still."""

import asyncio

from baohuang.rpc.errors import Refusal
from baohuang.rules.state import PlayerId, TableId
from eventually import eventually
from table_service.identifiers import WatchId
from table_service.watch.subscription import StreamLimits, Subscription


def subscription(cuts: list[Refusal], limits: StreamLimits) -> Subscription:
    """Make a subscription that notes how it is cut."""
    return Subscription(TableId("table"), PlayerId("an"), WatchId("watch"), limits, cuts.append)


async def test_a_write_under_way_does_not_put_off_the_next_sign_of_life() -> None:
    """When its timer rings while something is written, it rings again as soon as a sign of life could be due."""
    cuts: list[Refusal] = []
    one = subscription(cuts, StreamLimits(heartbeat_seconds=0.02, stuck_seconds=3600.0))
    one._look()
    assert one._timers[0].when() <= asyncio.get_running_loop().time() + 0.02
    async with asyncio.timeout(10):
        for _ in range(3):
            await one.wait()
            assert not one.has_news
    one.close()
    assert not cuts


async def test_a_write_that_takes_too_long_cuts_the_stream() -> None:
    """Nothing is taken in for so long: SLOW_READER, by the timer alone and not before its time."""
    cuts: list[Refusal] = []
    loop = asyncio.get_running_loop()
    began = loop.time()
    one = subscription(cuts, StreamLimits(heartbeat_seconds=0.02, stuck_seconds=0.2))

    async def is_cut() -> bool:
        return bool(cuts)

    await eventually(is_cut)
    assert loop.time() - began >= 0.2
    assert [refusal.reason for refusal in cuts] == ["SLOW_READER"]
    one.close()


async def test_what_is_taken_in_starts_the_time_anew() -> None:
    """The time that one message may take counts from the last one that was taken in."""
    cuts: list[Refusal] = []
    one = subscription(cuts, StreamLimits(heartbeat_seconds=3600.0, stuck_seconds=100.0))
    one._since -= 99.0
    one._look()
    one._since -= 2.0
    one.progress()
    one._look()
    assert not cuts
    one._since -= 101.0
    one._look()
    assert len(cuts) == 1
    one.close()
