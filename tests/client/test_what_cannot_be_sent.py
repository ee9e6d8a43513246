"""What no request can hold is refused by the client as the service would: every method of every client, each argument.

The clients promise RefusedError, UnreachableError, FaultError, and so no error of protobuf's own.
"""

import inspect
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

import grpc
import pytest

from baohuang.client import (
    BearerToken,
    DevelopmentIdentity,
    EventsSought,
    MalformedError,
    NotKnownError,
    Patience,
    RulingsSought,
    TableClient,
    UnreachableError,
)
from baohuang.client.history_client import HistoryClient
from baohuang.client.matchmaking_client import MatchmakingClient
from baohuang.client.rating_client import RatingClient
from baohuang.client.scoring_client import ScoringClient
from baohuang.rules.commands import Pass, Play
from baohuang.rules.rulesets import Options
from client.in_process import ALICE

CLIENTS: Final = (TableClient, HistoryClient, MatchmakingClient, ScoringClient, RatingClient)
HALF: Final[Any] = "\udcff"
TOO_MUCH: Final[Any] = 2**63
_GOOD: Final[dict[str, Any]] = {
    "move": Pass(), "options": Options(), "sought": EventsSought(), "order": None, "at": 1, "shown": {}, "status": None,
    "request_id": "r",
}  # fmt: skip
_BAD: Final[dict[str, tuple[Any, ...]]] = {
    "options": (Options(turn_seconds=TOO_MUCH),),
    "at": (TOO_MUCH,),
    "move": (Play((HALF,)),),
    "sought": (
        EventsSought(HALF),
        EventsSought(player=HALF),
        EventsSought(after=TOO_MUCH),
        EventsSought(types=(HALF,)),
    ),
}
_SOUGHT_RULINGS: Final = (RulingsSought(HALF), RulingsSought(clause=HALF), RulingsSought(kinds=(HALF,)))
_NUMBERS: Final = ("version", "expected_version", "seat", "hand", "size")
_YES_OR_NO: Final = ("ready", "active", "banned", "free_seat", "bots", "chain_only", "public_only")


def arguments(method: Any) -> list[str]:
    """Return the names of a method's arguments."""
    return [name for name in inspect.signature(method).parameters if name != "self"]


def good(name: str) -> Any:
    """Return what a message can hold under a name."""
    if name in _GOOD:
        return _GOOD[name]
    if name in _YES_OR_NO:
        return True
    return 1 if name in _NUMBERS else "x"


def bad(method: str, name: str) -> tuple[Any, ...]:
    """Return what it cannot hold."""
    if (method, name) == ("rulings", "sought"):
        return _SOUGHT_RULINGS
    if name in ("order", "shown", "status", *_YES_OR_NO):
        return ()
    return _BAD.get(name, (TOO_MUCH,) if name in _NUMBERS else (HALF,))


def cases() -> Iterator[tuple[type[Any], str, str, Any]]:
    """Give client, method, argument, and what it cannot hold."""
    for client in CLIENTS:
        for name, method in inspect.getmembers(client, inspect.isfunction):
            if name.startswith("_") or name == "play":
                continue
            for argument in arguments(method):
                for value in bad(name, argument):
                    yield client, name, argument, value


async def call(client: Any, method: str, given: dict[str, Any]) -> None:
    """Call a method, or take the first of what it yields."""
    answer = getattr(client, method)(**given)
    if inspect.isawaitable(answer):
        await answer
    else:
        await anext(answer)


@pytest.fixture
async def nowhere() -> AsyncIterator[grpc.aio.Channel]:
    """Give a connection to where nobody listens."""
    async with grpc.aio.insecure_channel("127.0.0.1:1") as channel:
        yield channel


@pytest.mark.parametrize(
    ("kind", "method", "argument", "value"),
    list(cases()),
    ids=lambda one: getattr(one, "__name__", None) or repr(one)[:30],
)
async def test_it_is_refused_with_the_field(
    nowhere: grpc.aio.Channel, kind: type[Any], method: str, argument: str, value: Any
) -> None:
    """MalformedError, and nothing is sent: without it there is nobody to answer."""
    client = kind(nowhere, DevelopmentIdentity(ALICE), Patience(attempts=1))
    given = {name: good(name) for name in arguments(getattr(kind, method)) if good(name) is not None}
    if method == "rulings":
        given["sought"] = RulingsSought()
    with pytest.raises(UnreachableError):
        await call(client, method, given)
    with pytest.raises(MalformedError) as refused:
        await call(client, method, {**given, argument: value})
    assert (refused.value.reason, len(refused.value.violations)) == ("INVALID_FIELD", 1)


@pytest.mark.parametrize("token", ["é", "a\nb", HALF])
async def test_credentials_that_metadata_cannot_carry(nowhere: grpc.aio.Channel, token: str) -> None:
    """NotKnownError with the key, for calls and for streams."""
    client = TableClient(nowhere, BearerToken(token), Patience(attempts=1))
    for method in ("get_table", "watch"):
        with pytest.raises(NotKnownError) as refused:
            await call(client, method, {"table_id": "x"})
        assert refused.value.metadata == {"key": "authorization"}
