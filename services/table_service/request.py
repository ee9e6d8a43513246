"""A command on its way to the handler, and what comes of it."""

from datetime import datetime

from msgspec import Struct

from baohuang.eventlog.port import RequestId, Version
from baohuang.rules.commands import Action
from baohuang.rules.state import PlayerId, TableId
from table_service.privacy import Visitor


class Request(Struct, frozen=True):
    """A command as it came in. `digest` is that of the request's body, to tell a retry from another request.

    With `not_before` (UTC) it is carried out only if the log's own clock has reached that moment.
    """

    table_id: TableId
    player: PlayerId
    request_id: RequestId
    digest: bytes
    action: Action
    expected_version: Version | None = None
    not_before: datetime | None = None
    visitor: Visitor | None = None
    """Who comes with it to a table that may be private; None: the service itself."""


class StillToCome(Exception):  # noqa: N818 (a finding about clocks: only a command with `not_before` meets it)
    """The log's clock has not reached the command's `not_before`: this process's clock is ahead of it."""


class Done(Struct, frozen=True):
    """What an accepted command came to: the version and hash of its last event."""

    table_id: TableId
    version: Version
    hash: bytes
