"""Addresses to listen on, as settings have them: "host:port"."""

from typing import Annotated, Final

from pydantic import AfterValidator

_HIGHEST_PORT: Final = 65_535


def is_address(text: str) -> bool:
    """Tell whether it is a host and a port, as in 127.0.0.1:50051, [::]:50051; port 0 is any free one."""
    host, _, port = text.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    if not bare or (":" in bare and bare == host) or not (port.isascii() and port.isdigit()):
        return False
    return int(port[:6]) <= _HIGHEST_PORT


def _checked(text: str) -> str:
    if not is_address(text):
        raise ValueError("must be host:port, as in 127.0.0.1:50051")
    return text


def _checked_if_any(text: str) -> str:
    return _checked(text) if text else text


Listen = Annotated[str, AfterValidator(_checked)]
"""Where to serve."""
OptionalListen = Annotated[str, AfterValidator(_checked_if_any)]
"""Where to serve, if anywhere: nothing is nowhere."""
