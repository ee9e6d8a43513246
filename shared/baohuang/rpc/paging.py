"""Pages of a listing (AIP-158): how long, and what stands for where the next one begins."""

import base64
import binascii
from typing import Final, Protocol

from baohuang.rpc.errors import MalformedInput

_DEFAULT_SIZE: Final = 50
_LARGEST_SIZE: Final = 100


class Paged(Protocol):
    """A request for a page."""

    @property
    def page_size(self) -> int:
        """The most wanted; 0 means the default."""

    @property
    def page_token(self) -> str:
        """What the page before ended with; empty for the first page."""


def size_of(request: Paged, default: int = _DEFAULT_SIZE, largest: int = _LARGEST_SIZE) -> int:
    """Return how long a page may be. Raises MalformedInput."""
    if request.page_size < 0:
        raise MalformedInput.field("page_size", "must not be negative")
    return min(request.page_size or default, largest)


def token_of(*parts: str) -> str:
    """Return the page token that stands for these texts, none of which holds a newline."""
    return base64.urlsafe_b64encode("\n".join(parts).encode()).decode().rstrip("=")


def parts_in(request: Paged, count: int) -> tuple[str, ...] | None:
    """Return the texts that the request's page token stands for, None if it has no token.

    Raises MalformedInput for a token that stands for another number of texts, or for none.
    """
    token = request.page_token
    if not token:
        return None
    try:
        parts = base64.b64decode(token + "=" * (-len(token) % 4), b"-_", validate=True).decode().split("\n")
    except (binascii.Error, ValueError) as error:
        raise not_ours() from error
    if len(parts) != count or "\0" in token or "\0" in "".join(parts):
        raise not_ours()
    return tuple(parts)


def not_ours() -> MalformedInput:
    """Return the refusal of a page token that no page ended with."""
    return MalformedInput.field("page_token", "is not one that this listing gave")
