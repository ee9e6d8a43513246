"""Callers by the token that comes with their calls: metadata `authorization: Bearer <JWT>` (RFC 6750, 2.1)."""

import re
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from baohuang.rpc.auth import AUTHORIZATION_KEY, Caller, Metadata
from baohuang.rpc.key_ring import KeyRing
from baohuang.rpc.tokens import TokenPolicy, TokenProblem, TokenVerifier, Verified, token_refused

TOKENS_HELD: Final = 10_000
MAX_TOKEN_CHARACTERS: Final = 4096
_BEARER: Final = re.compile(
    r"bearer +(?P<token>[\w-]+\.[\w-]+\.[\w-]+)",
    re.ASCII | re.IGNORECASE,
)


class BearerAuthenticator:
    """Verifies a token when it first comes and remembers it, so that the calls after it cost a lookup.

    Remembered are the `tokens_held` used last, each until it expires, all until the keys change. The token is looked
    at when a call starts: a stream that is open when its token expires goes on until its connection reaches its
    maximum age (`max_connection_age_seconds` and the grace after it), and opening the next one takes a fresh token.
    """

    def __init__(
        self,
        keys: KeyRing,
        policy: TokenPolicy,
        clock: Callable[[], float] = time.time,
        tokens_held: int = TOKENS_HELD,
    ) -> None:
        self._verifier = TokenVerifier(keys, policy, clock)
        self._keys = keys
        self._clock = clock
        self._tokens_held = tokens_held
        self._held: OrderedDict[str, Verified] = OrderedDict()
        self._held_under = keys.current

    def authenticate(self, metadata: Metadata) -> Caller:
        """Give the token's caller. Raises Unauthenticated, see `TokenProblem`."""
        header = _authorization(metadata)
        if self._keys.current is not self._held_under:
            self._forget()
        held = self._held.get(header)
        if held is None or self._clock() >= held.until:
            held = self._verified(header)
        self._held.move_to_end(header)
        return held.caller

    def _verified(self, header: str) -> Verified:
        self._held.pop(header, None)
        verified = self._held[header] = self._verifier.verify(_token_in(header))
        if len(self._held) > self._tokens_held:
            self._held.popitem(last=False)
        return verified

    def _forget(self) -> None:
        """Start over: a key that was withdrawn no longer vouches for anything."""
        self._held.clear()
        self._held_under = self._keys.current


def _authorization(metadata: Metadata) -> str:
    found = [value for key, value in metadata if key == AUTHORIZATION_KEY]
    if not found:
        raise token_refused(TokenProblem.MISSING, "metadata authorization is missing: `Bearer ` and a token")
    if len(found) > 1 or not isinstance(found[0], str):
        raise token_refused(TokenProblem.MALFORMED, "metadata authorization must be there once, as text")
    return found[0]


def _token_in(header: str) -> str:
    """Return the token; what is no token by its letters alone gets no further."""
    match = _BEARER.fullmatch(header)
    if match is None or len(header) > MAX_TOKEN_CHARACTERS:
        message = f"metadata authorization must be `Bearer ` and a JWT in compact form, {MAX_TOKEN_CHARACTERS} at most"
        raise token_refused(TokenProblem.MALFORMED, message)
    return match["token"]
