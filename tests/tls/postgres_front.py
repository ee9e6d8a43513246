"""TLS in front of a real PostgreSQL, since the one that comes from the package index is built without.

It does what a server with `ssl = on` does before anything else is said, and hands on the rest: what the drivers and
pools make of certificates is theirs, and real. Who comes without asking for TLS is turned away, as `hostssl` has it.
"""

import asyncio
import ssl
import struct
from contextlib import suppress
from pathlib import Path
from typing import Final, Self
from urllib.parse import urlencode

from sqlalchemy import make_url

from baohuang.tls.files import Tls
from tls.authorities import Issued

_SSL_REQUEST: Final = struct.pack("!ii", 8, 80877103)
"""What a client that wants TLS sends first (PostgreSQL, "Message Formats", SSLRequest)."""


class PostgresFront:
    """Listens between entering and leaving it as an async context manager.

    `shown` is the certificate for whoever connects next; with the file `clients` of authorities it asks for one.
    """

    def __init__(self, dsn: str, folder: Path, shown: Issued, clients: Path | None = None) -> None:
        self._behind = make_url(dsn)
        self._folder = folder
        self._clients = clients
        self.shown = shown
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()

    def dsn(self, tls: Tls) -> str:
        """Return the DSN that goes through it and checks it in full, with these files."""
        assert self._server is not None
        files = {"sslrootcert": tls.authorities, "sslcert": tls.certificate, "sslkey": tls.key}
        query = {"sslmode": "verify-full", **{name: str(path) for name, path in files.items() if path}}
        here = self._behind.set(port=self._server.sockets[0].getsockname()[1])
        return f"{here.render_as_string(hide_password=False)}?{urlencode(query)}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError, ssl.SSLError):
            if await reader.readexactly(len(_SSL_REQUEST)) == _SSL_REQUEST:
                writer.write(b"S")
                await writer.start_tls(self._context())
                await self._hand_on(reader, writer)
        writer.close()

    async def _hand_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behind = await asyncio.open_connection(self._behind.host, self._behind.port)
        await asyncio.gather(_copy(reader, behind[1]), _copy(behind[0], writer))

    def _context(self) -> ssl.SSLContext:
        files = self.shown.written(self._folder)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=self._clients)
        context.verify_mode = ssl.CERT_REQUIRED if self._clients else ssl.CERT_NONE
        assert files.certificate is not None
        context.load_cert_chain(files.certificate, files.key)
        return context


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(OSError, ssl.SSLError):
        while chunk := await source.read(65536):
            target.write(chunk)
            await target.drain()
    target.close()
