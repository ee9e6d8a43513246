"""Where a NATS is, and how it is reached: in the clear, or over TLS and no other way."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from nats.aio.client import Client
from nats.errors import Error as NatsError

from baohuang.tls.context import client_context
from baohuang.tls.files import Tls

TLS_SCHEME: Final = "tls://"
_DEFAULT_PORT: Final = 4222
_SCHEMES: Final = ("nats://", TLS_SCHEME)
_FORM: Final = "must be nats://user:password@host:port, with special characters of user and password percent-encoded"


class TlsNotOffered(NatsError):  # noqa: N818 (a state of the server)
    """The server that answers would be spoken to in the clear."""


class _TlsOnly(Client):
    """Tells nothing, its password least of all, to a server that does not take it over TLS.

    By itself the client goes on in the clear where the server's greeting does not ask for TLS, whatever its URL says;
    and anybody on the way can change the greeting.
    """

    async def _process_info(self, info: dict[str, Any], initial_connection: bool = False) -> None:  # noqa: FBT001, FBT002
        if initial_connection and not info.get("tls_required"):
            raise TlsNotOffered
        await super()._process_info(info, initial_connection)


def check_url(url: str) -> None:
    """Look whether it is a URL of a NATS. Raises ValueError, which repeats nothing of it."""
    if not url.startswith(_SCHEMES):
        raise ValueError("must begin with nats:// or tls://")
    try:
        parts = urlsplit(url)
        named = parts.hostname and parts.port != 0
    except ValueError:
        raise ValueError(_FORM) from None
    if not named or parts.path not in ("", "/") or parts.query or parts.fragment:
        raise ValueError(_FORM)


@dataclass(frozen=True, slots=True)
class NatsAddress:
    """A NATS by its URL, credentials included: `nats://` in the clear, `tls://` over TLS.

    `tls` are the authorities of the server's certificate and the certificate that it is shown; None is the system's
    authorities and no certificate.
    """

    url: str = field(repr=False)
    tls: Tls | None = None

    @property
    def secure(self) -> bool:
        """Whether it is reached over TLS only."""
        return self.tls is not None or self.url.startswith(TLS_SCHEME)

    @property
    def where(self) -> str:
        """The server as host:port, nothing else of the URL."""
        try:
            parts = urlsplit(self.url)
            port = parts.port or _DEFAULT_PORT
        except ValueError:
            return "the server"
        host = parts.hostname or ""
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    def client(self) -> Client:
        """Return a client that is not connected yet."""
        return _TlsOnly() if self.secure else Client()

    def options(self) -> Mapping[str, Any]:
        """Return what the client is to be told when it connects, certificates as they are now.

        Raises CertificateError.
        """
        return {"tls": client_context(self.tls or Tls())} if self.secure else {}


def address_of(nats: NatsAddress | str) -> NatsAddress:
    """Return the address, which may be given as its URL where TLS needs no files."""
    return NatsAddress(nats) if isinstance(nats, str) else nats
