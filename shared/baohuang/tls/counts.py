"""When certificates expire, for whoever has to renew them."""

from collections.abc import Iterator, Mapping
from typing import Final

from baohuang.metrics.family import Family, Kind, Reading
from baohuang.tls.files import CertificateError, Tls, read_raw, sound

EXPIRES: Final = Family(
    "baohuang_certificate_expires_timestamp_seconds",
    Kind.GAUGE,
    "When the certificate expires that is in the file now, in seconds since 1970; 0 if what is there is not sound.",
    ("use",),
)


def read_certificates(uses: Mapping[str, Tls | None]) -> Iterator[Reading]:
    """Read when each certificate expires, by what it is used for."""
    yield Reading(EXPIRES, {(use,): _expires(tls) for use, tls in uses.items() if tls and tls.certificate})


def _expires(tls: Tls) -> float:
    try:
        expires = sound(tls, read_raw(tls)).expires
    except CertificateError:
        return 0.0
    return expires.timestamp() if expires else 0.0
