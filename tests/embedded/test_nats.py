import asyncio
import os
import signal
import socket
import stat
from pathlib import Path

import nats
import pytest

from baohuang.embedded.errors import DataFolderInUse, ServerDied
from baohuang.embedded.leftover import command_line
from baohuang.embedded.nats import EmbeddedNats


async def publish(url: str) -> None:
    client = await nats.connect(url)
    stream = client.jetstream()
    await stream.add_stream(name="kept", subjects=["kept.>"])
    await stream.publish("kept.a", b"1")
    await client.close()


async def stored(url: str) -> int:
    client = await nats.connect(url)
    info = await client.jetstream().stream_info("kept")
    await client.close()
    return int(info.state.messages)


async def test_a_restart_finds_the_stream_at_the_same_address(nats_server: EmbeddedNats) -> None:
    """Stop and start again: the same URL, the same stored messages."""
    first = await nats_server.start()
    await publish(first)
    await nats_server.stop()
    second = await nats_server.start()
    assert (second, await stored(second)) == (first, 1)


async def test_a_killed_server_comes_back_with_its_stream(nats_server: EmbeddedNats) -> None:
    """Kill -9 of the server: the next start serves what was stored."""
    await publish(await nats_server.start())
    nats_server.child.send(signal.SIGKILL)
    await nats_server.child.wait()
    await nats_server.stop()
    assert await stored(await nats_server.start()) == 1


async def test_strangers_are_refused(nats_server: EmbeddedNats) -> None:
    """A client without the password is turned away."""
    port = int((await nats_server.start()).rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"CONNECT {}\r\nPING\r\n")
    greeting, refusal = await reader.readline(), await reader.readline()
    writer.close()
    await writer.wait_closed()
    assert greeting.startswith(b"INFO ")
    assert refusal == b"-ERR 'Authorization Violation'\r\n"


async def test_the_password_is_ours_to_read(nats_server: EmbeddedNats) -> None:
    """It stands in files of mode 0600, and not in the command line, which everybody can read."""
    url = await nats_server.start()
    home = nats_server.child.program.cwd
    assert {stat.S_IMODE((home / name).stat().st_mode) for name in ("nats.conf", "password")} == {0o600}
    assert len(url.partition("operator:")[2].partition("@")[0]) == 64
    shown = command_line(nats_server.child.pid)
    assert "nats.conf" in shown
    assert url.partition("operator:")[2].partition("@")[0] not in shown


async def test_it_listens_on_loopback_only(nats_server: EmbeddedNats) -> None:
    """No other address of the machine takes the connection."""
    port = int((await nats_server.start()).rpartition(":")[2])
    with socket.socket() as elsewhere:
        elsewhere.bind(("127.0.0.2", port))  # refused were it on every address


async def test_a_second_owner_is_refused_by_name(nats_server: EmbeddedNats, folder: Path) -> None:
    """Two on one folder: the second is told whose it is."""
    await nats_server.start()
    with pytest.raises(DataFolderInUse, match=f"process {os.getpid()}"):
        await EmbeddedNats(folder / "data").start()


async def test_a_leftover_server_is_stopped(nats_server: EmbeddedNats, folder: Path) -> None:
    """A server whose owner is gone is ended by the next owner, which serves the same stream."""
    await publish(await nats_server.start())
    orphan, lock = nats_server.child, nats_server._lock
    assert lock is not None
    lock.release()
    nats_server._child = None
    async with EmbeddedNats(folder / "data") as again:
        await asyncio.wait_for(orphan.wait(), 5)
        assert await stored(again) == 1


async def test_a_port_taken_meanwhile_is_left_to_its_owner(nats_server: EmbeddedNats, folder: Path) -> None:
    """The port of the last start is another's now: a free one is taken and noted."""
    port = (await nats_server.start()).rpartition(":")[2]
    await nats_server.stop()
    with socket.create_server(("127.0.0.1", int(port))):
        moved = (await nats_server.start()).rpartition(":")[2]
    assert moved != port
    assert (folder / "data/nats/port").read_text() == moved


async def test_a_server_that_cannot_start_tells_why(nats_server: EmbeddedNats, folder: Path) -> None:
    """The error carries the end of the server's log."""
    (folder / "data/nats").mkdir(parents=True)
    (folder / "data/nats/jetstream").write_text("not a folder")
    with pytest.raises(ServerDied, match="storage directory is not a directory"):
        await nats_server.start()
