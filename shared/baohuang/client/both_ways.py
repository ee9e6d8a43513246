"""An open stream in both directions, of which everything that came is read, whatever became of what was written."""

from typing import Any

from baohuang.client.reading import END


class BothWays:
    """One call of a method that streams both ways.

    Its messages are iterated over, for grpc's own `read` gives up what has come already, and the service's status with
    it, as soon as something that is written meets the end of the stream: in the place of both it raises INTERNAL with
    "Internal error from Core". A server that ends a stream ends it while its client writes.
    """

    def __init__(self, call: Any) -> None:
        self._call = call
        self._messages = aiter(call)

    async def read(self) -> object:
        """Return the next message, END behind the last. Raises AioRpcError with the status of the service."""
        return await anext(self._messages, END)

    async def write(self, message: object) -> None:
        """Send a message. Raises AioRpcError or InvalidStateError when the stream is over: its reader finds out why."""
        await self._call.write(message)

    def cancel(self) -> object:
        """Want no more of it."""
        return self._call.cancel()
