"""Whose call is given up before its command is settled: nobody hears of the outcome, and an outage is no bug for it."""

import asyncio
import gc
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import Append, EventLog, LogBusy, Outcome
from baohuang.gen.table.v1 import table_service_pb2 as pb
from eventually import eventually
from tables.clients import Client, open_table
from tables.logs import FrontLog
from tables.replicas import Replica, replica
from tables.test_opened_for_players import matchmaker, opening

Ask = Callable[[Replica], Awaitable[Any]]


class Fails(FrontLog):
    """Appends nothing: when it is let to, it says why."""

    def __init__(self, behind: EventLog, failure: Exception) -> None:
        super().__init__(behind)
        self.asked, self.may_fail = asyncio.Event(), asyncio.Event()
        self._failure = failure

    async def append(self, _: Append) -> Outcome:
        """Fail once that is allowed."""
        self.asked.set()
        await self.may_fail.wait()
        raise self._failure


async def one_table(service: Replica) -> None:
    """Open a table by a call of its own."""
    await Client(service.channel, "an").call(open_table())


async def tables_together(service: Replica) -> None:
    """Open two tables by one call."""
    request = pb.OpenTablesRequest(requests=[opening(), opening()])
    await matchmaker(service).call(request)


async def given_up(log: Fails, ask: Ask) -> list[dict[str, Any]]:
    """Ask, give up while the log does not answer, let it fail, and return what the event loop was told of nobody's."""
    with told_to_the_loop() as told:
        async with replica(log) as service:
            asking = asyncio.ensure_future(ask(service))
            await log.asked.wait()
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            await eventually(partial(nothing_open, service))
            log.may_fail.set()
        del asking
        gc.collect()
    return told


async def nothing_open(service: Replica) -> bool:
    """Tell whether the server knows that the caller is gone."""
    return all(one.begun == one.ended for one in service.server._interceptor.counts.values())


@contextmanager
def told_to_the_loop() -> Iterator[list[dict[str, Any]]]:
    """Collect what nobody takes care of: it would be logged as an error."""
    told: list[dict[str, Any]] = []
    loop = asyncio.get_running_loop()
    before = loop.get_exception_handler()
    loop.set_exception_handler(lambda _, context: told.append(context))
    try:
        yield told
    finally:
        loop.set_exception_handler(before)


@pytest.mark.parametrize("ask", [one_table, tables_together])
async def test_an_outage_that_nobody_hears_of_is_no_bug(log: MemoryLog, ask: Ask) -> None:
    """The log does not answer, and the caller has gone: nothing is said of it but in the counts."""
    assert await given_up(Fails(log, LogBusy("away")), ask) == []


async def test_a_bug_that_nobody_hears_of_is_told(log: MemoryLog) -> None:
    """What nobody expects is not lost with the caller that would have been told."""
    told = await given_up(Fails(log, ZeroDivisionError("a bug")), one_table)
    assert [type(context["exception"]) for context in told] == [ZeroDivisionError]
