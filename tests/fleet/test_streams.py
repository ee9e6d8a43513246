"""That the eye kept on streams is not blind: how a stream must not end while its replica goes."""

from collections.abc import Sequence

import grpc
import pytest

from baohuang.client.reading import END
from baohuang.gen.table.v1 import play_pb2, watch_pb2
from fleet.streams import NotedStream, check_endings

_TABLE = "7e57ab1e-0000-4000-8000-000000000001"
_DRAINING = watch_pb2.RECONNECT_REASON_DRAINING
Said = watch_pb2.WatchTableResponse


class _Script:
    """A stream that brings what it is to bring, and then ends."""

    def __init__(self, lines: Sequence[object]) -> None:
        self._lines = iter([*lines, END])

    async def read(self) -> object:
        """Return, or raise, the next line."""
        line = next(self._lines)
        if isinstance(line, BaseException):
            raise line
        return line


def update(version: int) -> Said:
    return Said(update=watch_pb2.Update(version=version))


def reconnect(version: int, reason: "watch_pb2.ReconnectReason.ValueType" = _DRAINING) -> Said:
    return Said(reconnect=watch_pb2.Reconnect(version=version, reason=reason))


def over_play(message: Said) -> play_pb2.PlayResponse:
    return play_pb2.PlayResponse(table=play_pb2.TableMessage(table_id=_TABLE, message=message))


def play_reconnect(version: int) -> play_pb2.PlayResponse:
    tables = [play_pb2.WatchedTable(table_id=_TABLE, version=version)]
    return play_pb2.PlayResponse(reconnect=play_pb2.PlayReconnect(reason=_DRAINING, tables=tables))


def failed(code: grpc.StatusCode) -> grpc.aio.AioRpcError:
    return grpc.aio.AioRpcError(code, grpc.aio.Metadata(), grpc.aio.Metadata(), "Internal error from Core", "")


async def noted(lines: Sequence[object], after: int = 0) -> NotedStream:
    """Read a stream until it has ended."""
    stream = NotedStream(_Script(lines), watch_pb2.WatchTableRequest(table_id=_TABLE, after_version=after))
    while stream.ending is None:
        try:
            await stream.read()
        except grpc.aio.AioRpcError:
            break
    return stream


@pytest.mark.parametrize(
    "lines",
    [
        [update(6), reconnect(6)],
        [reconnect(5)],
        [over_play(update(6)), play_reconnect(6)],
        [failed(grpc.StatusCode.CANCELLED)],
        [failed(grpc.StatusCode.UNAVAILABLE)],
    ],
    ids=["told, with the version", "told at once", "told over Play", "never handed over", "not listening any more"],
)
async def test_what_is_promised(lines: Sequence[object]) -> None:
    """A stream that was held is told to reconnect; one that was not may fail as new calls do."""
    check_endings([await noted(lines, after=5)])


@pytest.mark.parametrize(
    "lines",
    [
        [update(6), reconnect(5)],
        [over_play(update(6)), play_reconnect(7)],
        [update(6), reconnect(6), update(7)],
        [update(6), reconnect(6), failed(grpc.StatusCode.UNAVAILABLE)],
        [update(6), reconnect(6, watch_pb2.RECONNECT_REASON_CONNECTION_AGE)],
        [update(6)],
        [update(6), failed(grpc.StatusCode.CANCELLED)],
        [update(6), failed(grpc.StatusCode.UNAVAILABLE)],
        [failed(grpc.StatusCode.INTERNAL)],
        [update(6), reconnect(6), failed(grpc.StatusCode.INTERNAL)],
    ],
    ids=[
        "an older version",
        "a version it never had",
        "something more",
        "no OK",
        "for its age",
        "without a word",
        "cancelled",
        "cut",
        "a bug, or a write that met the end",
        "the same behind the word",
    ],
)
async def test_what_is_not(lines: Sequence[object]) -> None:
    """Any other end is found, and told by its kind."""
    stream = await noted(lines, after=5)
    assert stream.ending is not None
    with pytest.raises(AssertionError, match="     1 "):
        check_endings([stream])


async def test_a_stream_that_goes_on() -> None:
    """Who was not told anything, and left where he is, is found too."""
    stream = NotedStream(_Script([update(6)]), watch_pb2.WatchTableRequest(table_id=_TABLE))
    await stream.read()
    with pytest.raises(AssertionError, match="went on"):
        check_endings([stream])
