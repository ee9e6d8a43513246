"""When certificates expire, and whether they can be used, for whoever has to renew them."""

from collections.abc import Iterator, Mapping
from typing import Final

from baohuang.metrics.family import Family, Kind, Reading
from baohuang.tls.files import CertificateError, Tls, ends, read

EXPIRES: Final = Family(
    "baohuang_certificate_expires_timestamp_seconds",
    Kind.GAUGE,
    "When the first of the certificates expires that are in the file now, authorities included, in seconds since 1970;"
    " not told of a file without any.",
    ("use", "file"),
)
SOUND: Final = Family(
    "baohuang_certificates_sound",
    Kind.GAUGE,
    "1 if what is in the files of certificate, key and authorities now can be used,"
    " 0 if the last sound ones stay in use.",
    ("use",),
)


def read_certificates(uses: Mapping[str, Tls | None]) -> Iterator[Reading]:
    """Read of each file when what is in it expires, and whether all is sound, by what it is used for."""
    used = {use: tls for use, tls in uses.items() if tls and (tls.certificate or tls.authorities)}
    expiring = {(use, file): end.timestamp() for use, tls in used.items() for file, end in ends(tls).items()}
    yield Reading(EXPIRES, expiring)
    yield Reading(SOUND, {(use,): int(_is_sound(tls)) for use, tls in used.items()})


def _is_sound(tls: Tls) -> bool:
    try:
        read(tls)
    except CertificateError:
        return False
    return True
