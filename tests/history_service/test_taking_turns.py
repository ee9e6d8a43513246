"""Long work: one at a time, the callers in turn, and not too much of one of them."""

import asyncio
from collections.abc import Sequence

import grpc
import pytest

from audit.honest import Play, recorded
from baohuang.eventlog.port import EventLog
from baohuang.gen.history.v1 import history_service_pb2 as pb
from baohuang.rpc.errors import Exhausted
from baohuang.rules.state import TableId
from history_service.serving import Caller
from table_service.history.taking_turns import Turns

TABLE = "00000000-0000-7000-8000-000000000000"
MANY = 40


class Workers:
    """Callers who come for a turn, and when they have it keep it until they are told to go."""

    def __init__(self, most: int) -> None:
        self.turns = Turns(most)
        self.order: list[str] = []
        self._at_work: list[asyncio.Event] = []

    async def come(self, name: str) -> "asyncio.Task[None]":
        """Have somebody come, and let him get as far as he does."""
        working = asyncio.create_task(self._work(name))
        await asyncio.sleep(0)
        return working

    async def all_done(self, tasks: Sequence["asyncio.Task[None]"]) -> str:
        """Let one after the other go until all are done, and tell who had the turns."""
        while self._at_work:
            self._at_work.pop().set()
            for _ in range(5):
                await asyncio.sleep(0)
        await asyncio.gather(*tasks, return_exceptions=True)
        return "".join(self.order)

    async def _work(self, name: str) -> None:
        async with self.turns.turn(name):
            self.order.append(name)
            assert self._at_work == []
            self._at_work.append(asyncio.Event())
            await self._at_work[0].wait()


@pytest.mark.parametrize(
    ("came", "wanted"),
    [("aaaab", "abaaa"), ("aaabbc", "abcaba"), ("abc", "abc"), ("aabbb", "ababb")],
)
async def test_callers_have_their_turns_one_after_the_other(came: str, wanted: str) -> None:
    """Nobody waits for more than one of each other caller's, who came before him or not."""
    workers = Workers(most=4)
    tasks = [await workers.come(name) for name in came]
    assert await workers.all_done(tasks) == wanted


async def test_who_asks_for_too_much_is_refused() -> None:
    """What he has asked for is done all the same, and then he may ask again; others are not concerned."""
    workers = Workers(most=2)
    tasks = [await workers.come(name) for name in "aab"]
    too_much = await workers.come("a")
    with pytest.raises(Exhausted, match="at most 2") as caught:
        await too_much
    assert caught.value.metadata["retry_after_ms"] == "1000"
    assert await workers.all_done(tasks) == "aba"
    assert await workers.all_done([await workers.come("a")]) == "abaa"


@pytest.mark.parametrize("gives_up", range(5))
async def test_who_gives_up_holds_nobody_up(gives_up: int) -> None:
    """Whether he works or waits: all others have their turns, and his place counts no more."""
    workers = Workers(most=3)
    tasks = [await workers.come(name) for name in "aabac"]
    tasks[gives_up].cancel()
    order = await workers.all_done(tasks)
    assert sum(task.cancelled() for task in tasks) == 1
    rest = [name for place, name in enumerate("aabac") if place != gives_up]
    assert sorted(order) == sorted(rest if gives_up else "aabac")
    assert len(await workers.all_done([await workers.come("a") for _ in range(3)])) == len(order) + 3


async def test_who_gives_up_just_as_his_turn_comes() -> None:
    """Between being let in and going on: the next one is let in."""
    turns = Turns(2)
    first = turns.turn("a")
    await first.__aenter__()
    entered: list[str] = []

    async def enter(name: str) -> None:
        async with turns.turn(name):
            entered.append(name)

    second, third = (asyncio.create_task(enter(name)) for name in "bc")
    await asyncio.sleep(0)
    await first.__aexit__(None, None, None)
    second.cancel()
    await asyncio.wait([second, third])
    assert (second.cancelled(), entered) == (True, ["c"])


async def test_one_who_asks_for_many_explanations_keeps_nobody_waiting(log: EventLog, spectator: Caller) -> None:
    """Over gRPC: most of his are refused as too many, with when to come again; another's comes between the rest."""
    await recorded(log, Play(TableId(TABLE), "homy-qingdao", 1, restless=0.1), hands=1)
    (ruling, *_) = (await spectator.call(pb.ListRulingsRequest(table_id=TABLE))).rulings
    request = pb.ExplainRulingRequest(table_id=TABLE, version=ruling.recorded.version)
    greedy = spectator.named("greedy")
    refused: list[grpc.StatusCode] = []
    done: list[str] = []
    full = asyncio.Event()

    async def ask(caller: Caller) -> None:
        try:
            await caller.call(request)
        except grpc.aio.AioRpcError as error:
            refused.append(error.code())
            full.set()
        else:
            done.append(caller.player)

    asking = [asyncio.create_task(ask(greedy)) for _ in range(MANY)]
    await asyncio.wait_for(full.wait(), 10)
    await asyncio.gather(ask(spectator.named("patient")), *asking)
    assert len(refused) >= MANY // 2
    assert set(refused) == {grpc.StatusCode.RESOURCE_EXHAUSTED}
    assert set(done) == {"greedy", "patient"}
    assert done.index("patient") < len(done) - 1
