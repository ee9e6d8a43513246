"""What a replica does by itself goes on after a bug: it is counted, logged, and begins again."""

from collections.abc import Mapping, Sequence

import pytest

from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import Due, EventLog, StreamId, Version
from baohuang.gen.table.v1 import play_pb2
from eventually import eventually
from table_service.deadlines import Pace
from table_service.watch.stream import Watching
from table_service.wiring import Limits
from tables.clients import Client
from tables.games import opened
from tables.logs import FrontLog
from tables.play_streams import playing, watch
from tables.replicas import replica

_OFTEN = Limits(poll_seconds=0.02, deadlines=Pace(poll_seconds=0.02))


class Faulty(FrontLog):
    """Meets a bug where it is asked for the first time by each poll; counts how often it was asked."""

    def __init__(self, behind: EventLog) -> None:
        super().__init__(behind)
        self.asked = {"deadlines": 0, "watched tables": 0}

    async def claim_due(self, limit: int, lease_seconds: float) -> Sequence[Due]:
        """See `EventLog.claim_due`."""
        self._ask("deadlines")
        return await self.behind.claim_due(limit, lease_seconds)

    async def versions(self, stream_ids: Sequence[StreamId]) -> Mapping[StreamId, Version]:
        """See `EventLog.versions`."""
        self._ask("watched tables")
        return await self.behind.versions(stream_ids)

    def _ask(self, part: str) -> None:
        self.asked[part] += 1
        if self.asked[part] == 1:
            raise ZeroDivisionError


async def test_polls_begin_again_after_a_bug() -> None:
    """Deadlines and watched tables are looked for again; each bug is counted once, for its part."""
    log = Faulty(MemoryLog())
    async with replica(log, _OFTEN) as service:
        game = await opened(service)
        stream = Client(service.channel, "an").watch(game.table_id, 0)
        await stream.read()
        await eventually(lambda: asked_again(log))
        (reading,) = service.server.bugs.read()
        assert {part: number for (part,), number in reading.values.items() if number} == {
            "deadlines": 1,
            "watched tables": 1,
        }
        stream.cancel()


async def test_a_bug_of_a_watch_over_a_play_stream_is_counted(log: MemoryLog, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its watcher is told INTERNAL, as of a call that failed, and the stream goes on."""

    async def broken(*_: object) -> None:
        raise ZeroDivisionError

    async with replica(log) as service, playing(service.channel, "an") as stream:
        game = await opened(service)
        monkeypatch.setattr(Watching, "watch", broken)
        answer = await stream.ask(watch(game.table_id))
        assert isinstance(answer, play_pb2.Refused)
        assert answer.reason == "INTERNAL"
        monkeypatch.undo()
        await stream.send(watch(game.table_id))
        await stream.next_of(game.table_id)
        (reading,) = service.server.bugs.read()
        assert reading.values["watches",] == 1


async def asked_again(log: Faulty) -> bool:
    """Tell whether each poll has asked more than once."""
    return min(log.asked.values()) > 1
