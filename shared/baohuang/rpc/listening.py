"""Addresses, as settings have them: "host:port", to listen on or to call."""

import re
from ipaddress import IPv6Address
from typing import Annotated, Final

from pydantic import AfterValidator

_HIGHEST_PORT: Final = 65_535
_FORM: Final = "must be host:port, as in 127.0.0.1:50051"
_HOST: Final = re.compile(r"[\w.-]+", re.ASCII)
"""A name, or an address of IPv4; not what a URL has beside it, such as a password."""


def is_address(text: str) -> bool:
    """Tell whether it is a host and a port, as in 127.0.0.1:50051, [::]:50051; port 0 is any free one."""
    host, _, port = text.rpartition(":")
    if not (port.isascii() and port.isdigit() and int(port[:6]) <= _HIGHEST_PORT):
        return False
    return _is_ipv6(host[1:-1]) if host.startswith("[") and host.endswith("]") else bool(_HOST.fullmatch(host))


def _is_ipv6(text: str) -> bool:
    try:
        IPv6Address(text)
    except ValueError:
        return False
    return True


def _checked(text: str) -> str:
    if not is_address(text):
        raise ValueError(_FORM)
    return text


def _checked_if_any(text: str) -> str:
    return _checked(text) if text else text


def _checked_to_call(text: str) -> str:
    if not is_address(text) or not int(text.rpartition(":")[2]):
        raise ValueError(_FORM)
    return text


Listen = Annotated[str, AfterValidator(_checked)]
"""Where to serve."""
OptionalListen = Annotated[str, AfterValidator(_checked_if_any)]
"""Where to serve, if anywhere: nothing is nowhere."""
Address = Annotated[str, AfterValidator(_checked_to_call)]
"""Where a service is that is called."""
