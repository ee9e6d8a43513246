"""Certificates that are renewed while they are in use: their files are looked at again when they are needed."""

import time
from collections.abc import Callable
from typing import Final

import structlog

from baohuang.tls.files import CertificateError, Pem, Tls, read_raw, sound

LOOK_SECONDS: Final = 2.0
_log = structlog.get_logger("baohuang.tls")


class Renewed:
    """The last sound contents of the files.

    A renewal is seen at the first use after it, `look_seconds` later at most; files are opened by their paths, so
    replaced files and switched links, as Kubernetes does it, are seen. What is not sound changes nothing and is logged
    once: certificate and key are two files, and for a moment may not belong together.
    """

    def __init__(
        self, tls: Tls, look_seconds: float = LOOK_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Read the files. Raises CertificateError."""
        self._tls: Final = tls
        self._look_seconds: Final = look_seconds
        self._clock: Final = clock
        self._raw = read_raw(tls)
        self._current = sound(tls, self._raw)
        self._look_at = clock() + look_seconds
        self._trouble = ""

    def now(self) -> Pem:
        """Return what is to be used now; the same object as before while nothing was renewed."""
        moment = self._clock()
        if moment >= self._look_at:
            self._look_at = moment + self._look_seconds
            self._look()
        return self._current

    def _look(self) -> None:
        try:
            raw = read_raw(self._tls)
            if raw != self._raw:
                self._current, self._raw = sound(self._tls, raw), raw
                _log.info("certificates renewed", expires=_text(self._current))
            self._trouble = ""
        except CertificateError as error:
            if str(error) != self._trouble:
                self._trouble = str(error)
                _log.warning("certificates not renewed, the last ones stay in use", why=str(error))


def _text(pem: Pem) -> str | None:
    return pem.expires.isoformat() if pem.expires else None
