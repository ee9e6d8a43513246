"""The keys in force, kept up to date beside the calls: whoever checks a token only looks at `current`."""

import asyncio
from contextlib import suppress
from typing import Final

import structlog

from baohuang.rpc.key_sources import KeySource, SourceError
from baohuang.rpc.keys import BadKeySetError, KeySet, key_set
from baohuang.rpc.trouble import Trouble

_LEAST_SECONDS_BETWEEN: Final = 5.0
_log = structlog.get_logger("baohuang.rpc")


class KeysUnavailableError(Exception):
    """The keys cannot be read from their source, or are not sound."""


class KeyRing:
    """The last sound key set of a source; empty before the first `refresh`.

    A source that fails, or gives something that is not sound, changes nothing: the last good set stays in force.
    `reading` tells for how long that has been so.
    """

    def __init__(self, source: KeySource, least_seconds_between: float = _LEAST_SECONDS_BETWEEN) -> None:
        self.current = KeySet()
        self.reading: Final = Trouble(_log, "keys not read, the last ones stay in force", "keys read again")
        self._source = source
        self._pause = min(least_seconds_between, source.every_seconds)
        self._raw: bytes | None = None
        self._wanted = asyncio.Event()

    def want(self) -> None:
        """Ask for a reading before the next one is due, since a token named a key that is not known.

        It takes place no sooner than `least_seconds_between` after the last, so that invented key ids cannot have the
        source asked more often than that.
        """
        self._wanted.set()

    async def refresh(self) -> None:
        """Read the source. Raises KeysUnavailableError, and leaves `current` as it was."""
        try:
            raw = await asyncio.to_thread(self._source.read)
            if raw != self._raw:
                self.current, self._raw = key_set(raw), raw
                _log.info("keys read", kids=sorted(self.current.by_id))
        except (SourceError, BadKeySetError) as error:
            raise KeysUnavailableError(f"keys of tokens (BAOHUANG_JWKS): {error}") from error

    async def keep_fresh(self) -> None:
        """Read again for ever, when due and when wanted; to be run as a task, after a first `refresh`."""
        while True:
            await asyncio.sleep(self._pause)
            with suppress(TimeoutError):
                async with asyncio.timeout(self._source.every_seconds - self._pause):
                    await self._wanted.wait()
            self._wanted.clear()
            try:
                await self.refresh()
            except KeysUnavailableError as error:
                self.reading.failed(str(error))
            else:
                self.reading.went_well()
