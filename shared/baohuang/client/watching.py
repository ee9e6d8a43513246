"""One watch that outlives its streams: it resumes after the last version it has, whatever ended the stream before.

open ──message──► open          a stream ends by Reconnect, a lost connection, silence, a slow reader's cut
  ▲                 │ │         the next one is opened after the last version known, with backoff
  └─────ended───────┘ └──► over taken over by a newer stream of the same player: that one goes on
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable

from baohuang.client.errors import TakenOverError
from baohuang.client.following import Moment, advanced, beginning, noticed, rejoined
from baohuang.client.patience import Patience
from baohuang.client.reading import Reading, Stream, StreamEndedError
from baohuang.client.requests import made
from baohuang.client.updates import posted_in, update_in, view_in
from baohuang.gen.table.v1 import watch_pb2
from baohuang.rpc.messages import UnmappableError
from baohuang.rules.state import TableId

Response = watch_pb2.WatchTableResponse


Open = Callable[[watch_pb2.WatchTableRequest], Stream]
"""Opens a stream with the caller's credentials."""


class Watch:
    """The moments of one table, from a snapshot on, every version once, and again with each notice beside it.

    `moments` is to be iterated once.
    """

    def __init__(self, table_id: TableId, open_stream: Open, patience: Patience, invitation_code: str = "") -> None:
        self._table_id = table_id
        self._invitation_code = invitation_code
        self._open_stream = open_stream
        self._reading = Reading("the table", patience, _check)
        self._known: Moment | None = None

    async def moments(self) -> AsyncGenerator[Moment, None]:
        """Yield them until the consumer has enough.

        Raises RefusedError, TakenOverError, UnreachableError, ViewBrokenError.
        """
        opened = self._reading.first
        while True:
            stream, first = await opened(self._open)
            opened = self._reading.another
            try:
                async for moment in self._read(stream, first):
                    yield moment
            except StreamEndedError:
                await self._reading.spread()
            finally:
                stream.cancel()

    def _open(self) -> Stream:
        after = self._known.version if self._known else None
        request = made(
            watch_pb2.WatchTableRequest,
            table_id=self._table_id,
            after_version=after,
            invitation_code=self._invitation_code,
        )
        return self._open_stream(request)

    async def _read(self, stream: Stream, response: Response) -> AsyncIterator[Moment]:
        while True:
            if moment := self._learn(response):
                self._known = moment
                yield moment
            response = await self._reading.next(stream)

    def _learn(self, response: Response) -> Moment | None:
        """Return the moment that a message brings, None if it brings none."""
        try:
            return self._moment_of(response)
        except UnmappableError as newer:
            self._known = None
            raise StreamEndedError(f"newer than this client: {newer}") from newer

    def _moment_of(self, response: Response) -> Moment | None:
        match response.WhichOneof("message"):
            case "snapshot":
                view = view_in(response.snapshot)
                return rejoined(self._known, view) if self._known else beginning(view)
            case "update":
                return self._advanced(response.update)
            case "heartbeat":
                self._check_up_to_date(response.heartbeat.version)
            case "hand_scored" | "fine_posted" | "fine_returned":
                return self._beside(response)
        return None

    def _advanced(self, message: watch_pb2.Update) -> Moment:
        if self._known is None:
            raise StreamEndedError("an update before any snapshot")
        return advanced(self._known, update_in(message))

    def _beside(self, response: Response) -> Moment | None:
        posted = posted_in(response)
        return noticed(self._known, posted) if self._known is not None and posted is not None else None

    def _check_up_to_date(self, version: int) -> None:
        if self._known is None or version > self._known.version:
            raise StreamEndedError("something was missed")


def _check(response: Response) -> None:
    """Raise TakenOverError or StreamEndedError for the last message of a stream."""
    if response.HasField("taken_over"):
        raise TakenOverError(response.taken_over.version)
    if response.HasField("reconnect"):
        raise StreamEndedError(watch_pb2.ReconnectReason.Name(response.reconnect.reason))
