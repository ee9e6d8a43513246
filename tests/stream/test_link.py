import asyncio
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import pytest
from nats.aio.client import Client
from structlog.testing import capture_logs

from baohuang.embedded.nats import EmbeddedNats
from baohuang.embedded.ports import free_port
from baohuang.stream.link import UNSENT, Link

SECONDS = 20.0


@dataclass(slots=True)
class Ear:
    """What was heard under one subject."""

    heard: asyncio.Queue[tuple[str, bytes]] = field(default_factory=asyncio.Queue)

    def hear(self, subject: str, payload: bytes) -> None:
        """Keep it."""
        self.heard.put_nowait((subject, payload))

    async def next(self) -> tuple[str, bytes]:
        """Return what is heard next."""
        return await asyncio.wait_for(self.heard.get(), SECONDS)


@asynccontextmanager
async def linked(url: str, ear: Ear | None = None) -> AsyncIterator[Link]:
    """Give a link that hears `told.*`."""
    async with Link(url, "test", {"told.*": (ear or Ear()).hear}) as link:
        yield link


async def there(*links: Link) -> None:
    await asyncio.wait_for(asyncio.gather(*(link.until_there() for link in links)), SECONDS)


async def away(link: Link) -> None:
    async with asyncio.timeout(SECONDS):
        while link.there:  # noqa: ASYNC110 - nothing tells of it but the log
            await asyncio.sleep(0.005)


async def test_others_hear_what_is_published_and_the_publisher_does_not(nats_server: EmbeddedNats) -> None:
    """In order, by subject and payload; not under subjects that nobody listens to; one's own never."""
    url = await nats_server.start()
    mine, yours = Ear(), Ear()
    async with linked(url, mine) as me, linked(url, yours) as you:
        await there(me, you)
        me.publish("told.a", b"1")
        me.publish("untold.a", b"2")
        me.publish("told.b", b"3")
        assert [await yours.next(), await yours.next()] == [("told.a", b"1"), ("told.b", b"3")]
        you.publish("told.c", b"4")
        assert await mine.next() == ("told.c", b"4")


async def test_a_server_that_comes_late_is_found(nats_server: EmbeddedNats) -> None:
    """Not there when the link begins, told once; what was published meanwhile is dropped; then all works."""
    url = await nats_server.start()
    await nats_server.stop()
    ear = Ear()
    with capture_logs() as lines:
        async with linked(url) as me, linked(url, ear) as you:
            me.publish("told.lost", b"")
            await asyncio.wait_for(_logged(lines, "NATS is away", 2), SECONDS)
            assert await nats_server.start() == url
            await there(me, you)
            me.publish("told.found", b"")
            assert await ear.next() == ("told.found", b"")
    events = [line["event"] for line in lines]
    assert sorted(events) == ["NATS is away", "NATS is away", "NATS is there", "NATS is there"]


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL])
async def test_a_server_that_is_restarted_is_found_again(nats_server: EmbeddedNats, ending: signal.Signals) -> None:
    """However it ended, with messages under way: nothing is raised, and both ends talk again."""
    url = await nats_server.start()
    ear = Ear()
    async with linked(url) as me, linked(url, ear) as you:
        await there(me, you)
        for number in range(100):
            me.publish(f"told.{number}", bytes(1000))
        nats_server.child.send(ending)
        await asyncio.gather(away(me), away(you))
        await nats_server.stop()
        await nats_server.start()
        await there(me, you)
        me.publish("told.last", b"")
        while (await ear.next())[0] != "told.last":
            pass


async def test_publishing_never_waits_and_never_grows(nats_server: EmbeddedNats) -> None:
    """Far more than may wait, at once: the newest are sent, and what is kept is bounded."""
    url = await nats_server.start()
    ear = Ear()
    async with linked(url) as me, linked(url, ear) as you:
        await there(me, you)
        for number in range(3 * UNSENT):
            me.publish("told.many", str(number).encode())
        assert len(me._unsent) <= UNSENT
        heard = 0
        while int((await ear.next())[1]) != 3 * UNSENT - 1:
            heard += 1
        assert heard == UNSENT - 1


async def test_what_is_no_nats_is_tried_again_for_ever() -> None:
    """A port where something else answers, then hangs up; a port where nobody does: told once each, nothing raised."""
    asked = asyncio.Semaphore(0)

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"INFO\r\n")
        writer.close()
        asked.release()

    other = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = other.sockets[0].getsockname()[1]
    with capture_logs() as lines:
        async with linked(f"nats://127.0.0.1:{port}") as wrong, linked(f"nats://127.0.0.1:{free_port()}") as nobody:
            for _ in range(6):
                await asyncio.wait_for(asked.acquire(), SECONDS)
            assert not wrong.there
            assert not nobody.there
    other.close()
    await other.wait_closed()
    assert [line["event"] for line in lines] == ["NATS is away", "NATS is away"]


async def test_a_wrong_password_is_told_without_it(nats_server: EmbeddedNats) -> None:
    """It is turned away for ever, told once, and no credentials stand in the log."""
    port = (await nats_server.start()).rpartition(":")[2]
    with capture_logs() as lines:
        async with linked(f"nats://baohuang:hunter2@127.0.0.1:{port}") as link:
            await asyncio.wait_for(_logged(lines, "NATS is away", 1), SECONDS)
            assert not link.there
    assert "hunter2" not in str(lines)


async def _logged(lines: Sequence[Mapping[str, object]], event: str, times: int) -> None:
    while [line["event"] for line in lines].count(event) < times:  # noqa: ASYNC110 - a log sets no event
        await asyncio.sleep(0.005)


async def test_leaving_ends_a_link_that_swallows_its_cancellation(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the NATS client does at times while it connects: the link goes on as if nothing had been, and still ends."""
    connecting = asyncio.Event()

    async def connect(self: Client, *_: object, **__: object) -> None:
        connecting.set()
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()

    async def nothing(self: Client, *_: object, **__: object) -> None:
        pass

    monkeypatch.setattr(Client, "connect", connect)
    for name in ("flush", "subscribe", "close"):
        monkeypatch.setattr(Client, name, nothing)
    async with asyncio.timeout(30):
        async with Link("nats://127.0.0.1:1", "swallowing", {}):
            await connecting.wait()
