"""Carries the transcript's commands out, with one stream that may run in the background."""

from collections.abc import Iterator, Sequence
from itertools import islice

from .matching import Matching
from .reflected import Json, Reflected
from .transcript import Call, Foreground, Step


class Terminal:
    """What a reader's terminal is: commands in order, a stream in the background."""

    def __init__(self, client: Reflected) -> None:
        self._client = client
        self._background: Iterator[Json] = iter(())

    def carry_out(self, command: Call | Foreground, messages: int) -> Sequence[Json]:
        """Return the command's replies: one, or so many messages of a stream, 0: up to its first heartbeat."""
        if isinstance(command, Foreground):
            return list(islice(self._background, messages))
        headers = dict(command.headers)
        if not command.method.endswith("/WatchTable"):
            return [self._client.call(command.method, command.body, headers)]
        stream = self._client.stream(command.method, command.body, headers)
        if command.background:
            self._background = stream
        return list(islice(stream, messages)) if messages else list(_until_heartbeat(stream))


def _until_heartbeat(stream: Iterator[Json]) -> Iterator[Json]:
    for message in stream:
        yield message
        if "heartbeat" in message:
            return


def replay(client: Reflected, steps: Sequence[Step]) -> Sequence[Sequence[Json]]:
    """Carry all steps out and return their replies. Raises AssertionError where one is not as shown."""
    terminal, matching, replies = Terminal(client), Matching(), []
    for step in steps:
        command = step.command
        if isinstance(command, Call):
            command = Call(command.method, matching.as_now(command.body), command.headers, command.background)
        came = terminal.carry_out(command, len(step.shown))
        matching.check(list(step.shown), list(came), f"{command}")
        replies.append(came)
    return replies
