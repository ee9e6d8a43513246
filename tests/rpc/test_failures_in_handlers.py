import asyncio
import io
import json
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
import structlog

from baohuang.rpc.errors import Reason
from baohuang.rpc.log import configure_logging
from baohuang.rpc.status import read_details
from rpc.echo import METHODS, serving

SECRET = "red joker"  # noqa: S105 - a card


@pytest.fixture
def log_lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """Log for real, into memory."""
    written = io.StringIO()
    monkeypatch.setattr("sys.stderr", written)
    configure_logging()
    structlog.configure(cache_logger_on_first_use=False)
    yield written
    structlog.reset_defaults()


@pytest.mark.parametrize("method", METHODS)
async def test_a_bug_is_internal_and_tells_the_client_nothing(method: str, log_lines: io.StringIO) -> None:
    """The text and the local variables of an unexpected exception stay on the server, where it is logged."""

    async def act(text: str, _context: object) -> str:
        held = SECRET
        raise ZeroDivisionError(text if held else "")

    async with serving(act) as (_, client):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await client.call(method, "what the client must not see")
    details = read_details(caught.value)
    assert details is not None
    assert (caught.value.code(), details.reason) == (grpc.StatusCode.INTERNAL, Reason.INTERNAL)
    assert "must not see" not in repr(caught.value)
    line = json.loads(log_lines.getvalue())
    assert (line["event"], line["method"], line["caller"]) == ("handler failed", f"/test.Echo/{method}", "alice")
    assert "ZeroDivisionError" in json.dumps(line["exception"])
    assert SECRET not in log_lines.getvalue()


@pytest.mark.parametrize("method", METHODS)
async def test_bytes_that_are_no_message_are_malformed_input(method: str) -> None:
    """Undecodable bytes are the client's fault, INVALID_ARGUMENT, in every kind of method."""

    async def act(text: str, _context: object) -> str:
        return text

    async with serving(act) as (_, client):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await client.call(method, b"\xff\xff\xff\xff")
    details = read_details(caught.value)
    assert details is not None
    assert (caught.value.code(), details.reason) == (grpc.StatusCode.INVALID_ARGUMENT, Reason.INVALID_FIELD)


async def test_an_abort_by_a_handler_passes_through() -> None:
    """A status set with context.abort, as libraries do, is not replaced."""

    async def act(text: str, context: Any) -> str:
        await context.abort(grpc.StatusCode.DATA_LOSS, text)
        return text

    async with serving(act) as (_, client):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await client.call("Unary", "lost")
    assert (caught.value.code(), caught.value.details()) == (grpc.StatusCode.DATA_LOSS, "lost")


@pytest.mark.parametrize("method", METHODS)
async def test_a_cancelled_call_cancels_its_handler(method: str, log_lines: io.StringIO) -> None:
    """The handler sees CancelledError when its client leaves, and nothing is logged as a failure."""
    entered, left = asyncio.Event(), asyncio.Event()

    async def act(text: str, _context: object) -> str:
        entered.set()
        try:
            await asyncio.Event().wait()
        finally:
            left.set()
        return text

    async with serving(act) as (_, client):
        call = client.start(method, b"")
        reader = asyncio.ensure_future(_finish(call))
        await asyncio.wait_for(entered.wait(), 5)
        call.cancel()
        await asyncio.wait_for(left.wait(), 5)
        await reader
    assert log_lines.getvalue() == ""


async def test_a_deadline_ends_the_handler_and_reaches_the_client() -> None:
    """A call past its deadline is DEADLINE_EXCEEDED for the client and cancelled on the server."""
    left = asyncio.Event()

    async def act(text: str, _context: object) -> str:
        try:
            await asyncio.Event().wait()
        finally:
            left.set()
        return text

    async with serving(act) as (_, client):
        call = client.channel.unary_unary("/test.Echo/Unary", None, None)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call(b"", timeout=0.2, metadata=(("baohuang-player", "alice"),))
        await asyncio.wait_for(left.wait(), 5)
    assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED


async def _finish(call: Any) -> None:
    try:
        if hasattr(call, "__aiter__"):
            async for _ in call:
                pass
        else:
            await call
    except asyncio.CancelledError:
        return


async def test_what_asks_for_no_identity_is_clear_about_bytes_too() -> None:
    """Health and reflection answer INVALID_ARGUMENT to what is no message, and UNIMPLEMENTED to what they lack."""
    methods = {
        "/grpc.health.v1.Health/Check": grpc.StatusCode.INVALID_ARGUMENT,
        "/grpc.health.v1.Health/List": grpc.StatusCode.UNIMPLEMENTED,
    }
    async with serving(lambda text, _: text) as (_, client):
        for path, code in methods.items():
            raw = b"" if code is grpc.StatusCode.UNIMPLEMENTED else b"\xff"
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await client.channel.unary_unary(path, None, None)(raw)
            assert caught.value.code() is code
        stream = client.channel.stream_stream(
            "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", None, None
        )
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await anext(aiter(stream(iter([b"\xff"]))))
        assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
