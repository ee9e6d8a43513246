"""Who may say what on NATS: a user for each service that is on it, with what it publishes and hears and no more.

    table      publishes the stream of the log, and pokes; hears pokes, and the ledger's stream
    scoring    consumes the log's stream; publishes the ledger's
    rating     consumes the ledger's stream; publishes nothing
    operator   publishes and hears all (`baohuang rebuild-stream`)

So a service that was taken over cannot speak for another. Nothing on NATS is hidden from anybody at a table, so what is
heard is bounded for order's sake. `python -m baohuang.stream.permissions` writes the lines for a nats-server's
configuration.
"""

import enum
import json
import sys
from collections.abc import Callable, Sequence
from typing import Final, assert_never

from baohuang.stream.streams import SCORING_STREAM, TABLE_STREAM, StreamName
from baohuang.stream.subjects import ALL_POKES, source_subject

_ANSWERS: Final = "_INBOX.>"
_ALL: Final = (">",)


class NatsUser(enum.StrEnum):
    """A user of NATS; its value is its name there."""

    TABLE = "table"
    SCORING = "scoring"
    RATING = "rating"
    OPERATOR = "operator"


def publishes(user: NatsUser) -> Sequence[str]:
    """Return the subjects that a user may publish to."""
    match user:
        case NatsUser.TABLE:
            return (ALL_POKES, *_published(TABLE_STREAM))
        case NatsUser.SCORING:
            pokes = source_subject(SCORING_STREAM.name)
            return (pokes, *_published(SCORING_STREAM), *_consumed(TABLE_STREAM, NatsUser.SCORING))
        case NatsUser.RATING:
            return _consumed(SCORING_STREAM, NatsUser.RATING)
        case NatsUser.OPERATOR:
            return _ALL
    assert_never(user)


def hears(user: NatsUser) -> Sequence[str]:
    """Return the subjects that a user may subscribe to."""
    match user:
        case NatsUser.TABLE:
            return (_ANSWERS, ALL_POKES, SCORING_STREAM.all_subjects)
        case NatsUser.SCORING:
            return (_ANSWERS, source_subject(SCORING_STREAM.name))
        case NatsUser.RATING:
            return (_ANSWERS,)
        case NatsUser.OPERATOR:
            return _ALL
    assert_never(user)


def authorization(password: Callable[[NatsUser], str]) -> str:
    """Return the block of a nats-server's configuration; passwords as they are to stand there."""
    users = "\n".join(_user(user, password(user)) for user in NatsUser)
    return f"authorization {{\n  users: [\n{users}\n  ]\n}}\n"


def password_variable(user: NatsUser) -> str:
    """Return how a nats-server's configuration takes a user's password from its environment."""
    return f"$BAOHUANG_NATS_{user.upper()}_PASSWORD"


def _published(stream: StreamName) -> Sequence[str]:
    """Return the subjects for who publishes a stream, and makes it anew where it is not its source's."""
    api = [f"$JS.API.STREAM.{verb}.{stream.name}" for verb in ("INFO", "CREATE", "DELETE", "MSG.GET")]
    return (stream.all_subjects, *api)


def _consumed(stream: StreamName, consumer: str) -> Sequence[str]:
    """Return the subjects for a durable consumer of a stream, by its own name alone."""
    verbs = ("DURABLE.CREATE", "INFO", "DELETE", "MSG.NEXT")
    api = [f"$JS.API.CONSUMER.{verb}.{stream.name}.{consumer}" for verb in verbs]
    return (f"$JS.API.STREAM.MSG.GET.{stream.name}", *api, f"$JS.ACK.{stream.name}.{consumer}.>")


def _user(user: NatsUser, password: str) -> str:
    return (
        f'    {{ user: "{user}", password: {password}, permissions: {{\n'
        f"      publish: {{ allow: {json.dumps(publishes(user))} }}\n"
        f"      subscribe: {{ allow: {json.dumps(hears(user))} }}\n"
        f"    }} }}"
    )


if __name__ == "__main__":
    sys.stdout.write(authorization(password_variable))
