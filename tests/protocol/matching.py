"""What is shown and what came: the same, but for ids, hashes, instants and what the document leaves out as `…`."""

import base64
import re
from typing import Any, Final

ELISION: Final = "…"
_HASHES: Final = frozenset({"hash", "hiddenDigest"})
_DIGEST_BYTES: Final = 32
_INSTANT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


class Matching:
    """Compares replies, and remembers which table of this run the table shown stands for."""

    def __init__(self) -> None:
        self._tables: dict[str, str] = {}

    def as_now(self, body: str) -> str:
        """Return a request's body with the ids of this run."""
        for shown, now in self._tables.items():
            body = body.replace(shown, now)
        return body

    def check(self, shown: Any, came: Any, path: str = "") -> None:
        """Raise AssertionError, naming the place, unless what came is what is shown."""
        if isinstance(shown, dict):
            self._check_object(shown, came, path)
        elif isinstance(shown, list):
            self._check_list(shown, came, path)
        else:
            assert _alike(path.rpartition(".")[2], self._known(path, shown, came), came), f"{path}: {shown} is {came}"

    def _known(self, path: str, shown: Any, came: Any) -> Any:
        if path.endswith(".tableId"):
            return self._tables.setdefault(shown, came)
        return shown

    def _check_object(self, shown: dict[str, Any], came: Any, path: str) -> None:
        assert isinstance(came, dict), f"{path}: no object"
        wanted = {key: value for key, value in shown.items() if key != ELISION}
        missing = wanted.keys() - came.keys() if ELISION in shown else wanted.keys() ^ came.keys()
        assert not missing, f"{path}: {sorted(missing)} on one side only"
        for key, value in wanted.items():
            self.check(value, came[key], f"{path}.{key}")

    def _check_list(self, shown: list[Any], came: Any, path: str) -> None:
        elided = shown[-1:] == [ELISION]
        wanted = shown[:-1] if elided else shown
        assert isinstance(came, list), f"{path}: no list"
        assert len(came) > len(wanted) if elided else len(came) == len(wanted), f"{path}: {len(came)} entries"
        for index, value in enumerate(wanted):
            self.check(value, came[index], f"{path}[{index}]")


def _alike(key: str, shown: Any, came: Any) -> bool:
    if key in _HASHES:
        return all(len(base64.b64decode(value, validate=True)) == _DIGEST_BYTES for value in (shown, came))
    if key == "millisLeft":
        return isinstance(shown, int) and isinstance(came, int)
    if isinstance(shown, str) and _INSTANT.fullmatch(shown):
        return isinstance(came, str) and bool(_INSTANT.fullmatch(came))
    return type(shown) is type(came) and bool(shown == came)
