"""The reply to a committed flush never arrives."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from sqlalchemy import make_url

from baohuang.eventlog.port import Appended, Duplicate
from baohuang.eventlog.postgres.log import open_log
from eventlog.commands import accepted, after, command, new_stream


@dataclass(slots=True)
class Wire:
    """A relay between log and server that can be cut just when the server has answered, and hang.

    It hangs while `carries` is not set: connections stay, and nothing comes of what is sent.
    """

    host: str
    port: int
    cutting: bool = False
    cuts: int = 0
    carries: asyncio.Event = field(default_factory=asyncio.Event)
    relays: "set[asyncio.Task[None]]" = field(default_factory=set)

    async def relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection both ways until either end closes it."""
        relaying = asyncio.current_task()
        assert relaying is not None
        self.relays.add(relaying)
        relaying.add_done_callback(self.relays.discard)
        answers, questions = await asyncio.open_connection(self.host, self.port)
        forth = asyncio.create_task(self._carry(reader, questions))
        try:
            await self._carry_back(answers, writer)
        finally:
            forth.cancel()
            for end in (questions, writer):
                end.close()
                with contextlib.suppress(OSError):
                    await end.wait_closed()

    async def end(self) -> None:
        """End what is carried still, be it by a wire that hangs."""
        for relay in self.relays:
            relay.cancel()
        await asyncio.gather(*self.relays, return_exceptions=True)

    async def _carry(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        while data := await source.read(65536):
            await self.carries.wait()
            target.write(data)
            await target.drain()

    async def _carry_back(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        while data := await source.read(65536):
            await self.carries.wait()
            # Any answer to a flush comes after its commit, for a flush is its own transaction.
            if self.cutting:
                self.cuts += 1
                self.cutting = False
                return
            target.write(data)
            await target.drain()


@asynccontextmanager
async def wire_to(dsn: str) -> AsyncIterator[tuple[Wire, str]]:
    """Give a wire to a database and the DSN at its near end."""
    url = make_url(dsn)
    assert url.host
    wire = Wire(url.host, url.port or 5432)
    wire.carries.set()
    server = await asyncio.start_server(wire.relay, "127.0.0.1", 0)
    near = url.set(host="127.0.0.1", port=server.sockets[0].getsockname()[1])
    try:
        yield wire, near.render_as_string(hide_password=False)
    finally:
        server.close()
        await wire.end()
        await server.wait_closed()


async def test_a_lost_reply_is_asked_for_again(own_database_dsn: str) -> None:
    """The commit happened and the connection broke: the flush is sent again and finds its own work done."""
    stream_id = new_stream()
    async with wire_to(own_database_dsn) as (wire, near), open_log(near) as log:
        end = await accepted(log, command(stream_id))
        wanted = after(stream_id, end)
        wire.cutting = True
        outcome = await log.append(wanted)
        assert wire.cuts == 1
        assert isinstance(outcome, Duplicate)
        assert (outcome.version, outcome.request_digest) == (2, wanted.request_digest)
        events = await log.read_stream(stream_id)
        assert [event.version for event in events] == [1, 2]
        assert isinstance(await log.append(command(stream_id, 2, events[-1].hash)), Appended)
