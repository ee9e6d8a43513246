"""The relay: publishes a source to its stream, in order and without holes, and makes the stream whole if it is not.

    connect ──► wait for the lease ──► find where the stream ends ──► publish what the source has beyond it, as it comes
       ▲                                                                                 │
       └──────────────────────── any failure, a lost lease ──────────────────────────────┘

A relay without the lease passes on, over core NATS, what it is poked for: whoever adds to the source pokes his own. So
go the traces that what was added belongs to.

The source is the truth, and where the relay stands is what the stream itself says, never what the relay remembers. So
it does not matter when it is killed, how often, or whether another one publishes too.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg

from baohuang.eventlog.port import EventLogError
from baohuang.stream.connection import Connect
from baohuang.stream.counts import RelayCounts
from baohuang.stream.jetstream import JetStream, answers
from baohuang.stream.lease import Held, Lease, LeaseLost
from baohuang.stream.port import Source, StreamError
from baohuang.stream.publishing import Publisher
from baohuang.stream.streams import StreamName
from baohuang.stream.subjects import source_subject
from baohuang.stream.traces import POKE_HEADER, Traces

_HURRY: Final = b"hurry"
_log = structlog.get_logger("stream")


@dataclass(frozen=True, slots=True)
class Pace:
    """How often the source is looked at unasked, and how long after a look it is not looked at again for a poke.

    So the first of many pokes is heard at once, and those that follow it are gathered, unless one is in a hurry. Then
    how often the lease is kept and the stream checked, and how many messages go at once.
    """

    poll_seconds: float = 0.5
    gather_seconds: float = 0.02
    keep_seconds: float = 1.0
    batch: int = 500


class Relay:
    """Publishes one source; `run` it as a task, beside as many others of the same source as you like."""

    def __init__(
        self, source: Source, name: StreamName, lease: Lease, connect: Connect, pace: Pace | None = None
    ) -> None:
        """Take a lease that outlasts the time between two keepings of it."""
        self._source: Final = source
        self._name: Final = name
        self._lease: Final = lease
        self._connect: Final = connect
        self._pace: Final = pace or Pace()
        self._poke_subject: Final = source_subject(name.name)
        self._poked: Final = asyncio.Event()
        self._hurried: Final = asyncio.Event()
        self._trouble = ""
        self.traces: Final = Traces()
        self.counts: Final = RelayCounts()

    def poke(self) -> None:
        """Say that the source has more, once it is committed; what nobody says is found at the next poll."""
        self._poked.set()

    def hurry(self) -> None:
        """Say the same of what somebody waits for."""
        self._hurried.set()
        self._poked.set()

    async def run(self) -> None:
        """Publish for ever; whatever fails is tried again."""
        while True:
            try:
                await self._turn()
            except (StreamError, EventLogError, LeaseLost) as error:
                self.counts.failures += 1
                self._note(error)
            await asyncio.sleep(self._pace.poll_seconds)

    async def _turn(self) -> None:
        """Publish until something fails."""
        async with self._connect() as client:
            held = await self._until_held(client)
            with answers():
                await client.subscribe(self._poke_subject, cb=self._hear)
            publisher = Publisher(self._source, JetStream(client, self._name), self._pace.batch, self.traces)
            try:
                await self._follow(publisher, held)
            finally:
                self.counts.publishing = False
                with suppress(EventLogError, LeaseLost):
                    await self._lease.give_back(held, publisher.number)

    async def _until_held(self, client: Client) -> Held:
        while (held := await self._lease.take()) is None:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._pace.poll_seconds):
                    await self._pass_pokes_on(client)
        return held

    async def _pass_pokes_on(self, client: Client) -> None:
        """Tell whoever has the lease, as long as somebody else has it."""
        with answers():
            while True:
                await self._poked.wait()
                said = _HURRY if self._hurried.is_set() else b""
                self._forget_pokes()
                await client.publish(self._poke_subject, said, headers=self.traces.say())
                await self._gather(self._pace.gather_seconds)

    async def _hear(self, poke: Msg) -> None:
        """Be poked by a relay that stands by."""
        if poke.headers and (traces := poke.headers.get(POKE_HEADER)):
            self.traces.hear(traces)
        if poke.data == _HURRY:
            self.hurry()
        else:
            self.poke()

    def _forget_pokes(self) -> None:
        self._poked.clear()
        self._hurried.clear()

    async def _follow(self, publisher: Publisher, held: Held) -> None:
        if beyond := await publisher.begin():
            self.counts.ahead = beyond
        self._trouble = ""
        if publisher.number < held.number:
            _log.warning("stream is behind and is refilled", stream=self._name.name, number=publisher.number)
        _log.info("relay publishes", stream=self._name.name, number=publisher.number, epoch=held.epoch)
        now = asyncio.get_running_loop().time
        keep_at = self.counts.all_out_at = now()
        self.counts.publishing = True
        while True:
            self._forget_pokes()
            look_again_at = now() + self._pace.gather_seconds
            more = await publisher.advance()
            self.counts.number = publisher.number
            if now() >= keep_at:
                await publisher.check()
                await self._lease.keep(held, publisher.number)
                keep_at = now() + self._pace.keep_seconds
            if not more:
                self.counts.all_out_at = now()
                await self._until_poked()
                await self._gather(look_again_at - now())

    async def _until_poked(self) -> None:
        """Wait for a poke, for the next poll at the latest."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._pace.poll_seconds):
                await self._poked.wait()

    async def _gather(self, seconds: float) -> None:
        """Wait for more to come with what was said, unless that is in a hurry."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._hurried.wait()

    def _note(self, error: Exception) -> None:
        """Log a trouble once, until it is over or another one."""
        trouble = type(error).__name__
        if trouble != self._trouble:
            self._trouble = trouble
            _log.warning("relay waits", stream=self._name.name, trouble=trouble, error=str(error))
