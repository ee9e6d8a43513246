"""The tables that one Play stream watches, each by the same watch as a WatchTable stream."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Final

from baohuang.eventlog.port import EventLogError
from baohuang.gen.table.v1 import play_pb2, watch_pb2
from baohuang.metrics.bugs import Bugs
from baohuang.rpc.call import current_call
from baohuang.rpc.errors import Reason, Refusal, Unavailable
from baohuang.rpc.interceptor import InternalRefusal
from table_service import api
from table_service.answering import refused
from table_service.playing import answers
from table_service.playing.outbox import Outbox
from table_service.watch.stream import Watching
from table_service.watch.telling import Told

_RECONNECT_TAG: Final = watch_pb2.WatchTableResponse.DESCRIPTOR.fields_by_name["reconnect"].number << 3 | 2
Counted = Callable[[], AbstractContextManager[None]]
"""Counts a watch among its player's for as long as the block lasts. Raises Exhausted (TOO_MANY_STREAMS)."""
Leave = Callable[["watch_pb2.ReconnectReason.ValueType"], None]
"""Called when a table's watch says that the stream has to end, with the reason it gives."""
BUGS_OF: Final = "watches"
"""What bugs of watches are counted as."""


@dataclass(slots=True)
class _Watch:
    """One table: the version its reader has been brought to, and the task that brings him there."""

    version: int
    task: "asyncio.Task[None] | None" = None
    leaves: bool = False
    """Whether the table's stream has said that the whole one has to end."""


class Watched:
    """Passes the messages of tables on to the outbox, each when there is room: till then they wait in their watch."""

    def __init__(self, watching: Watching, outbox: Outbox, counted: Counted, bugs: Bugs, leave: Leave) -> None:
        self._watching = watching
        self._outbox = outbox
        self._counted = counted
        self._bugs = bugs
        self._leave = leave
        self._watches: dict[str, _Watch] = {}

    async def begin(self, message: play_pb2.Watch) -> None:
        """Watch a table from now on, or refuse to; who watches it already begins anew, or goes on as before."""
        try:
            await self._check(message)
        except (Refusal, EventLogError) as error:
            self._outbox.put(answers.answered(refused("", message.table_id, _refusal_of(error))))
        else:
            self._start(message)

    async def _check(self, message: play_pb2.Watch) -> None:
        table_id, after_version = api.table_id_in(message.table_id), api.after_version_in(message)
        await self._watching.check(table_id, api.visitor(message.invitation_code), after_version)

    def _start(self, message: play_pb2.Watch) -> None:
        before = self._watches.get(message.table_id)
        watch = self._watches[message.table_id] = _Watch(message.after_version)
        watch.task = asyncio.create_task(self._follow(message, watch, before.task if before else None))
        watch.task.add_done_callback(partial(self._failed, message.table_id, watch))

    def end(self, table_id: str) -> None:
        """Watch a table no longer, if it is watched."""
        watch = self._watches.pop(table_id, None)
        if watch is not None and watch.task is not None:
            watch.task.cancel()

    async def stop(self) -> Sequence[tuple[str, int]]:
        """Watch no table any more; return those that were watched, with the versions their reader was brought to."""
        watches = dict(self._watches)
        await stopped(watch.task for watch in watches.values())
        return [(table_id, watch.version) for table_id, watch in watches.items()]

    async def _follow(self, message: play_pb2.Watch, watch: _Watch, before: "asyncio.Task[None] | None") -> None:
        try:
            await stopped([before])
            with self._counted():
                await self._pass_on(message, watch)
        except (Refusal, EventLogError) as error:
            self._refuse(message.table_id, watch, _refusal_of(error))

    def _failed(self, table_id: str, watch: _Watch, task: "asyncio.Task[None]") -> None:
        """Refuse a watch that ended by what nobody expects: a bug."""
        if not task.cancelled() and (error := task.exception()):
            self._bugs.met(BUGS_OF, error, table_id=table_id)
            self._refuse(table_id, watch, InternalRefusal())

    def _forget(self, table_id: str, watch: _Watch) -> None:
        """Forget a table whose watch has ended by itself, unless another has taken its place."""
        if self._watches.get(table_id) is watch:
            del self._watches[table_id]

    def _refuse(self, table_id: str, watch: _Watch, refusal: Refusal) -> None:
        self._forget(table_id, watch)
        if refusal.reason is Reason.SLOW_READER:
            self._outbox.end(refusal)
        else:
            self._outbox.put(answers.answered(refused("", table_id, refusal)))

    async def _pass_on(self, message: play_pb2.Watch, watch: _Watch) -> None:
        """Pass the table's stream on to its end."""
        table_id, after_version = api.table_id_in(message.table_id), api.after_version_in(message)
        envelope, visitor = answers.Envelope(table_id), api.visitor(message.invitation_code)

        async def write(told: Told) -> None:
            if told.message[0] == _RECONNECT_TAG:
                # Of the whole stream here; till then the table counts as watched.
                self._leave(watch_pb2.WatchTableResponse.FromString(told.message).reconnect.reason)
                watch.leaves = True
                return
            await self._outbox.has_room()
            self._outbox.put(envelope.around(told.message))
            watch.version = told.version

        await self._watching.watch(table_id, visitor, after_version, current_call().cut, write)
        if not watch.leaves:
            self._forget(message.table_id, watch)


def _refusal_of(error: Refusal | EventLogError) -> Refusal:
    if isinstance(error, Refusal):
        return error
    return Unavailable(Reason.LOG_UNAVAILABLE, "the event log did not answer: retry")


async def stopped(tasks: "Iterable[asyncio.Task[None] | None]") -> None:
    """Cancel tasks and wait for their end."""
    running = [task for task in tasks if task is not None]
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
