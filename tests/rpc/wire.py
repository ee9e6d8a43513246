"""A connection that something between client and server loses, one side at a time or in silence."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

Ends = tuple[asyncio.StreamWriter, asyncio.StreamWriter]
"""The client's and the server's side of one connection."""


class Wire:
    """Passes bytes on between clients and the server at `behind`, "host:port", until it is told otherwise."""

    def __init__(self, behind: str) -> None:
        self._host, _, port = behind.rpartition(":")
        self._port = int(port)
        self._open: list[Ends] = []
        self._left: list[asyncio.StreamWriter] = []
        self._passing: set[asyncio.Task[None]] = set()
        self._silent = False

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take a client's connection, and make one to the server for it."""
        behind, forth = await asyncio.open_connection(self._host, self._port)
        self._open.append((writer, forth))
        for source, sink in ((reader, forth), (behind, writer)):
            task = asyncio.create_task(self._pass_on(source, sink))
            self._passing.add(task)
            task.add_done_callback(self._passing.discard)

    def fall_silent(self) -> None:
        """Take in whatever comes from now on, and pass nothing on."""
        self._silent = True

    def lose_clients(self) -> None:
        """End the clients' sides; the server is left with its own, and hears nothing."""
        lost, self._open = self._open, []
        for client, server in lost:
            self._left.append(server)
            client.transport.abort()

    def let_server_know(self) -> None:
        """End the server's sides of what was lost."""
        for server in self._left:
            server.transport.abort()
        self._left.clear()

    async def stop(self) -> None:
        """End all, and pass nothing on any more."""
        self.lose_clients()
        self.let_server_know()
        for task in [*self._passing]:
            task.cancel()
        await asyncio.gather(*self._passing, return_exceptions=True)

    async def _pass_on(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while some := await source.read(65536):
                if not self._silent:
                    sink.write(some)
                    await sink.drain()


@asynccontextmanager
async def wire_to(behind: str) -> AsyncIterator[tuple[Wire, str]]:
    """Give a wire to a server, and the address at which its clients find it."""
    wire = Wire(behind)
    async with await asyncio.start_server(wire.connect, "127.0.0.1", 0) as listening:
        host, port = listening.sockets[0].getsockname()[:2]
        yield wire, f"{host}:{port}"
        await wire.stop()
