"""Calls that nobody would make, and how each of them has to end."""

from collections.abc import Sequence
from random import Random
from typing import Final

import grpc
from google.protobuf.descriptor import MethodDescriptor

from tables.fuzzing import CLEAR, Result, Shot
from tables.messages import LARGEST, AnyMessage

STRANGER, OPERATOR, MATCHMAKER = "stranger", "olga", "matchmaker"
_NOBODY: Final = ("", "@clock", "x" * 65)
"""Who cannot be a caller."""


class Shooting:
    """Makes calls of any method by anybody; `players` are those who are known to the service."""

    def __init__(self, dice: Random, making: AnyMessage, methods: Sequence[MethodDescriptor]) -> None:
        self._dice = dice
        self._making = making
        self._methods = methods
        self.players: Sequence[str] = ()

    def shot(self) -> Shot:
        """Make one, of messages that are sound, damaged or too large."""
        method = self._dice.choice(self._methods)
        count = self._dice.randint(1, 4) if method.client_streaming else 1
        return Shot(method, self._headers(), tuple(self._raw(method) for _ in range(count)))

    def _raw(self, method: MethodDescriptor) -> bytes:
        kind = self._dice.random()
        if kind < 0.01:
            return self._making.huge()
        sound = self._making.of(method.input_type).SerializeToString()
        return self._making.damaged(sound) if kind < 0.3 else sound

    def _headers(self) -> tuple[tuple[str, str], ...]:
        """Return who calls: mostly a player; often an operator or a service; also a stranger, or nobody who can be."""
        kind = self._dice.random()
        if kind < 0.03:
            who = self._dice.choice(_NOBODY)
            return (("baohuang-player", who),) if who else ()
        if kind < 0.25:
            return (("baohuang-player", OPERATOR), ("baohuang-role", "operator"))
        if kind < 0.35:
            return (("baohuang-player", MATCHMAKER), ("baohuang-role", "service"))
        return (("baohuang-player", self._dice.choice((*self.players, STRANGER))),)


def caller_of(shot: Shot) -> str:
    """Return who makes a call."""
    return dict(shot.headers).get("baohuang-player", "")


def check(shot: Shot, result: Result) -> None:
    """Check that a call ended clearly: a status that a client can act on, with its reason."""
    told = (shot.path, shot.headers, shot.raw, result)
    assert result.code in CLEAR, told
    too_large = any(len(raw) > LARGEST for raw in shot.raw)
    assert too_large or (result.code is grpc.StatusCode.OK) == (result.reason == ""), told
    assert result.code is not grpc.StatusCode.RESOURCE_EXHAUSTED or too_large, told
    if caller_of(shot) in _NOBODY:
        assert result.code in {grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.RESOURCE_EXHAUSTED}, told
