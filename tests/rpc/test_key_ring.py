import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from baohuang.rpc.key_counts import read_keys
from baohuang.rpc.key_ring import KeyRing, KeysUnavailableError
from baohuang.rpc.key_sources import MAX_BYTES, KeyFile, KeySource, KeyUrl, SourceError, source_of
from eventually import eventually
from rpc.signers import Published, ed25519, jwks, rsa

OLD, NEW = ed25519("old"), rsa("new")


class Provider:
    """What an identity provider answers with, `readings` times so far."""

    def __init__(self) -> None:
        self.status = 200
        self.body = jwks(OLD)
        self.claimed_length: int | None = None
        self.readings = 0


@contextmanager
def serving(provider: Provider) -> Iterator[str]:
    """Serve it over HTTP on loopback and give the URL."""

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            provider.readings += 1
            self.send_response(provider.status)
            self.send_header("Content-Length", str(provider.claimed_length or len(provider.body)))
            self.end_headers()
            self.wfile.write(provider.body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/jwks.json"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def provider() -> Provider:
    """Give a provider with the old key."""
    return Provider()


@pytest.fixture
def url(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Give its URL, to be asked without a proxy."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving(provider) as served:
        yield served


@asynccontextmanager
async def kept(source: KeySource, least_seconds_between: float = 0.0) -> AsyncIterator[KeyRing]:
    """Give a ring that was read once and is kept fresh."""
    ring = KeyRing(source, least_seconds_between)
    await ring.refresh()
    task = asyncio.create_task(ring.keep_fresh())
    yield ring
    assert not task.done()
    task.cancel()


async def kids(ring: KeyRing, *wanted: str) -> bool:
    """Tell whether these keys are in force and no others."""
    return set(ring.current.by_id) == set(wanted)


async def test_a_changed_file_is_seen(tmp_path: Path) -> None:
    """Rotation by overwriting, and by the switched link that Kubernetes mounts: the keys in force follow."""
    (tmp_path / "1").write_bytes(jwks(OLD))
    (tmp_path / "2").write_bytes(jwks(NEW))
    link = tmp_path / "jwks.json"
    link.symlink_to("1")
    async with kept(KeyFile(link, every_seconds=0.01)) as ring:
        assert await kids(ring, "old")
        (tmp_path / "1").write_bytes(jwks(OLD, NEW))
        await eventually(lambda: kids(ring, "old", "new"))
        (tmp_path / "next").symlink_to("2")
        (tmp_path / "next").replace(link)
        await eventually(lambda: kids(ring, "new"))


async def test_a_file_that_is_gone_or_spoilt_changes_nothing(tmp_path: Path) -> None:
    """The last good set stays in force, and the next good one takes its place."""
    file = tmp_path / "jwks.json"
    file.write_bytes(jwks(OLD))
    ring = KeyRing(KeyFile(file))
    await ring.refresh()
    good = ring.current
    for spoil in (lambda: file.write_bytes(jwks(NEW)[:-9]), file.unlink, file.mkdir):
        spoil()
        with pytest.raises(KeysUnavailableError, match="BAOHUANG_JWKS"):
            await ring.refresh()
        assert ring.current is good
    file.rmdir()
    file.write_bytes(jwks(NEW))
    await ring.refresh()
    assert await kids(ring, "new")


async def test_a_set_that_cannot_be_used_is_told_when_it_begins_and_when_it_ends(tmp_path: Path) -> None:
    """Emptied, then with a key that is broken: one line for it all, and one when it is sound again."""
    file = tmp_path / "jwks.json"
    file.write_bytes(jwks(OLD))
    with capture_logs() as lines:
        async with kept(KeyFile(file, every_seconds=0.01)) as ring:
            (told,) = read_keys(ring)
            assert told.values == {(): 0.0}
            for spoilt in (b'{"keys":[]}', jwks(OLD, NEW).replace(b'"x": "', b'"x": "?'), jwks(NEW)[:-9]):
                before = ring.reading.seconds
                file.write_bytes(spoilt)
                await eventually(partial(longer, ring, before + 0.05))
                assert await kids(ring, "old")
            file.write_bytes(jwks(NEW))
            await eventually(lambda: kids(ring, "new"))
            (told,) = read_keys(ring)
            assert told.values == {(): 0.0}
    assert [(line["log_level"], line["event"]) for line in lines] == [
        ("info", "keys read"),
        ("warning", "keys not read, the last ones stay in force"),
        ("info", "keys read"),
        ("info", "keys read again"),
    ]


async def longer(ring: KeyRing, than: float) -> bool:
    """Tell whether the source has not been sound for longer than that."""
    return ring.reading.seconds > than


async def test_the_same_text_is_the_same_set(tmp_path: Path) -> None:
    """A reading that brings nothing new leaves the set as it is, so that verified tokens stay remembered."""
    file = tmp_path / "jwks.json"
    file.write_bytes(jwks(OLD))
    ring = KeyRing(KeyFile(file))
    await ring.refresh()
    before = ring.current
    await ring.refresh()
    assert ring.current is before


async def test_a_url_that_fails_changes_nothing(url: str, provider: Provider) -> None:
    """Errors, nonsense, a cut answer, too much of it: the task goes on, and the first good answer is taken."""
    async with kept(KeyUrl(url, every_seconds=0.01)) as ring:
        good = ring.current
        for status, body, length in (
            (503, jwks(NEW), None),
            (404, b"", None),
            (200, b"<html>", None),
            (200, jwks(NEW), 99_999),
            (200, b" " * (MAX_BYTES + 1), None),
        ):
            provider.status, provider.body, provider.claimed_length = status, body, length
            await _read_again(provider)
            assert ring.current is good
        provider.status, provider.body, provider.claimed_length = 200, jwks(NEW), None
        await eventually(lambda: kids(ring, "new"))


async def _read_again(provider: Provider) -> None:
    """Wait until two more readings began, so that one of them is over."""
    enough = provider.readings + 3

    async def are_enough() -> bool:
        return provider.readings >= enough

    await eventually(are_enough)


async def test_a_provider_that_is_away_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody listens any more: KeysUnavailableError, without the URL, whose query may be a secret."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving(Provider()) as url:
        ring = KeyRing(source_of(f"{url}?secret=hunter2"))
        await ring.refresh()
    good = ring.current
    with pytest.raises(KeysUnavailableError) as caught:
        await ring.refresh()
    assert "hunter2" not in str(caught.value)
    assert ring.current is good


async def test_an_unknown_key_has_the_source_read_at_once() -> None:
    """Long before the next reading is due."""
    published = Published(jwks(OLD))
    async with kept(published) as ring:
        published.raw = jwks(OLD, NEW)
        ring.want()
        await eventually(lambda: kids(ring, "old", "new"))


async def test_invented_keys_do_not_have_it_read_again_and_again() -> None:
    """Wanted a thousand times, it is read once each `least_seconds_between`, be that an hour."""
    published = Published(jwks(OLD))
    async with kept(published, least_seconds_between=3600.0) as ring:
        for _ in range(1000):
            ring.want()
            await asyncio.sleep(0)
    assert published.readings == 1


async def test_wishes_in_between_come_to_one_reading() -> None:
    """Those that come during the pause are granted together, when it is over."""
    published = Published(jwks(OLD))
    async with kept(published, least_seconds_between=0.05) as ring:
        for _ in range(1000):
            ring.want()
        published.raw = jwks(NEW)
        await eventually(lambda: kids(ring, "new"))
        assert published.readings == 2


def test_a_url_is_told_from_a_path() -> None:
    """Only http and https are fetched."""
    assert source_of("https://id.example.org/jwks") == KeyUrl("https://id.example.org/jwks")
    assert source_of("HTTP://id.example.org/jwks") == KeyUrl("HTTP://id.example.org/jwks")
    for path in ("/etc/keys.json", "keys.json", "file:///etc/passwd", "ftp://example.org/x"):
        assert source_of(path) == KeyFile(Path(path))


def test_a_file_without_an_end_is_not_read_to_it() -> None:
    """More than a mebibyte is refused, and no more is read."""
    with pytest.raises(SourceError, match="larger than"):
        KeyFile(Path("/dev/zero")).read()
