"""Where a JWK set is read from: a file or a URL. Reading blocks; it is done in a thread, never for a call."""

import http.client
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

MAX_BYTES: Final = 1 << 20
"""A JWK set of hundreds of keys is smaller."""
_CHUNK: Final = 1 << 16
_FILE_EVERY_SECONDS: Final = 2.0
_URL_EVERY_SECONDS: Final = 300.0
_URL_SECONDS: Final = 5.0


class SourceError(Exception):
    """The set cannot be read now."""


class KeySource(Protocol):
    """Gives the text of a JWK set."""

    @property
    def every_seconds(self) -> float:
        """How often it is to be read again without a special reason."""

    def read(self) -> bytes:
        """Return the text as it is now. Blocks. Raises SourceError."""


@dataclass(frozen=True, slots=True)
class KeyFile:
    """A file, opened by its path at every read: replaced files and switched links, as Kubernetes does it, are seen."""

    path: Path
    every_seconds: float = _FILE_EVERY_SECONDS

    def read(self) -> bytes:
        """Return what the file holds. Raises SourceError."""
        try:
            with self.path.open("rb") as file:
                raw = file.read(MAX_BYTES + 1)
        except OSError as error:
            raise SourceError(f"cannot read {self.path}: {error.strerror}") from error
        _check_size(raw)
        return raw


@dataclass(frozen=True, slots=True)
class KeyUrl:
    """An http(s) URL, as identity providers publish it; proxies are taken from the environment."""

    url: str
    every_seconds: float = _URL_EVERY_SECONDS

    def read(self) -> bytes:
        """Fetch it, within about five seconds and 1 MiB. Raises SourceError, which does not quote the URL."""
        deadline = time.monotonic() + _URL_SECONDS
        try:
            with urllib.request.urlopen(self.url, timeout=_URL_SECONDS) as response:  # noqa: S310 - http(s), see source_of
                return _body(response, deadline)
        except urllib.error.HTTPError as error:
            raise SourceError(f"the JWKS URL answers with {error.code}") from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise SourceError(f"the JWKS URL cannot be fetched: {type(error).__name__}") from error


def source_of(place: str) -> KeySource:
    """Return the source for a path or an http(s) URL."""
    return KeyUrl(place) if is_url(place) else KeyFile(Path(place))


def is_url(place: str) -> bool:
    """Whether it is an http(s) URL; everything else is a path."""
    return place.lower().startswith(("http://", "https://"))


def _body(response: http.client.HTTPResponse, deadline: float) -> bytes:
    """Read to the end; a timeout of the socket alone would let it drip for ever."""
    body = bytearray()
    while chunk := response.read1(_CHUNK):
        body += chunk
        _check_size(body)
        if time.monotonic() > deadline:
            raise SourceError("the JWKS URL answers too slowly")
    if response.length:
        raise SourceError("the answer of the JWKS URL was cut off")
    return bytes(body)


def _check_size(raw: bytes | bytearray) -> None:
    if len(raw) > MAX_BYTES:
        raise SourceError(f"the JWK set is larger than {MAX_BYTES} bytes")
