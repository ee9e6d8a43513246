"""The files of one end of a TLS connection, and what makes them sound.

Sound are files that can be read, that hold PEM, whose key is that of the certificate, and whose certificate is valid
now; and which gRPC can serve: of RSA or EC keys. What is not sound is never taken into use: at the start it is an
error, later the last sound contents stay.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key
from cryptography.x509 import Certificate, load_pem_x509_certificates
from cryptography.x509.oid import SignatureAlgorithmOID

_MAX_BYTES: Final = 1 << 20
"""A bundle of all authorities of a system is smaller."""
_MALFORMED: Final = (ValueError, TypeError, UnsupportedAlgorithm)
"""What reading PEM raises; TypeError is a key with a password."""

_UNSHOWABLE: Final = frozenset({SignatureAlgorithmOID.ED25519, SignatureAlgorithmOID.ED448})
"""Signatures that gRPC's TLS offers nobody: it would serve, and no handshake would succeed."""


class CertificateError(Exception):
    """A file of a certificate, its key or authorities is not sound; the text names the file, and no secret."""


@dataclass(frozen=True, slots=True)
class Tls:
    """PEM files of one end of a connection.

    `authorities` vouch for the other end: None is the system's own for a client; a server without any asks its clients
    for no certificate, and one that has some takes nobody without (mTLS). `certificate`, ours first and then those
    between it and its authority, comes with its `key`; None shows none.
    """

    authorities: Path | None = None
    certificate: Path | None = None
    key: Path | None = None

    def __post_init__(self) -> None:
        if (self.certificate is None) != (self.key is None):
            raise CertificateError("a certificate and its key go together")


@dataclass(frozen=True, slots=True)
class Pem:
    """Sound contents of the files; `expires` is when our certificate does, None without one."""

    authorities: bytes | None = None
    certificate: bytes | None = None
    key: bytes | None = field(default=None, repr=False)
    expires: datetime | None = None


def read_raw(tls: Tls) -> tuple[bytes | None, ...]:
    """Return what the files hold now: authorities, certificate, key. Raises CertificateError."""
    return tuple(None if path is None else _bytes_of(path) for path in (tls.authorities, tls.certificate, tls.key))


def sound(tls: Tls, raw: tuple[bytes | None, ...], now: datetime | None = None) -> Pem:
    """Return what was read if it is sound. Raises CertificateError."""
    authorities, certificate, key = raw
    if authorities is not None:
        _certificates(tls.authorities, authorities)
    if certificate is None or key is None:
        return Pem(authorities)
    ours = _certificates(tls.certificate, certificate)[0]
    _check_key(tls, ours, key)
    _check_time(tls, ours, now or datetime.now(UTC))
    return Pem(authorities, certificate, key, ours.not_valid_after_utc)


def read(tls: Tls) -> Pem:
    """Return what the files hold now. Raises CertificateError."""
    return sound(tls, read_raw(tls))


def ends(tls: Tls) -> Mapping[str, datetime]:
    """Return when the first certificate of each file ends, by `authorities` and `certificate`; whoever's it is.

    Those between ours and its authority are in its file, and no less needed. A file that holds none is left out.
    """
    found: dict[str, datetime] = {}
    for name, path in (("authorities", tls.authorities), ("certificate", tls.certificate)):
        if path is not None:
            with suppress(CertificateError):
                found[name] = min(one.not_valid_after_utc for one in _certificates(path, _bytes_of(path)))
    return found


def _bytes_of(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            raw = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise CertificateError(f"cannot read {path}: {error.strerror}") from error
    if len(raw) > _MAX_BYTES:
        raise CertificateError(f"{path} is larger than {_MAX_BYTES} bytes")
    return raw


def _certificates(path: Path | None, raw: bytes) -> list[Certificate]:
    try:
        return load_pem_x509_certificates(raw)
    except _MALFORMED:
        raise CertificateError(f"{path} holds no certificates in PEM") from None


def _check_key(tls: Tls, ours: Certificate, raw: bytes) -> None:
    try:
        key = load_pem_private_key(raw, None)
    except _MALFORMED:
        raise CertificateError(f"{tls.key} holds no private key in PEM without a password") from None
    if not isinstance(key, RSAPrivateKey | EllipticCurvePrivateKey) or ours.signature_algorithm_oid in _UNSHOWABLE:
        raise CertificateError(
            f"{tls.certificate} is not of RSA or EC keys (P-256, say), its authority's included: gRPC serves no other"
        )
    form = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    if key.public_key().public_bytes(*form) != ours.public_key().public_bytes(*form):
        raise CertificateError(f"{tls.key} is not the key of {tls.certificate}")


def _check_time(tls: Tls, ours: Certificate, now: datetime) -> None:
    if now >= ours.not_valid_after_utc:
        raise CertificateError(f"{tls.certificate} has expired, on {ours.not_valid_after_utc:%Y-%m-%d %H:%M} UTC")
    if now < ours.not_valid_before_utc:
        raise CertificateError(f"{tls.certificate} is not valid before {ours.not_valid_before_utc:%Y-%m-%d %H:%M} UTC")
