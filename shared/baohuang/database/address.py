"""Where a PostgreSQL is, as settings have it: a DSN whose faults, and whose server, are told without its password."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Final
from urllib.parse import SplitResult, parse_qs, urlsplit

import asyncpg
from pydantic import AfterValidator, SecretStr

VARIABLE: Final = "BAOHUANG_POSTGRES_DSN"
_SCHEMES: Final = ("postgresql", "postgres")
_SSL_MODES: Final = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
_DEFAULT_PORT: Final = 5432
_PORTS: Final = 1 << 16
_FORM: Final = (
    "must be postgresql://user:password@host:port/database, with what is not a letter or a digit in user and password "
    "percent-encoded"
)


class DatabaseUnreachableError(OSError):
    """There is no connection to the database; the text says which server, and not the password."""


def check_dsn(dsn: str) -> None:
    """Look whether it is a DSN. Raises ValueError, which repeats nothing of it."""
    try:
        parts = urlsplit(dsn)
        query = parse_qs(parts.query, strict_parsing=True) if parts.query else {}
        ports = [int(port) for _, port in _servers(parts) if port]
    except ValueError:
        raise ValueError(_FORM) from None
    if parts.scheme not in _SCHEMES:
        raise ValueError("must begin with postgresql://")
    # What stands behind a /, ? or # of a password that is not encoded looks like these.
    path = parts.path.removeprefix("/")
    if parts.fragment or "/" in path or "@" in path + parts.query or not all(0 < one < _PORTS for one in ports):
        raise ValueError(_FORM)
    if not set(query.get("sslmode", ())) <= set(_SSL_MODES):
        raise ValueError(f"its sslmode must be one of {', '.join(_SSL_MODES)}")


def _checked(dsn: SecretStr) -> SecretStr:
    check_dsn(dsn.get_secret_value())
    return dsn


PostgresDsn = Annotated[SecretStr, AfterValidator(_checked)]
"""A DSN as a setting."""


def _servers(parts: SplitResult) -> list[tuple[str, str]]:
    """Return host and port of each server that a DSN names before its database."""
    listed = parts.netloc.rpartition("@")[2].split(",")
    return [_host_and_port(one) for one in listed if one]


def _host_and_port(text: str) -> tuple[str, str]:
    if text.endswith("]"):
        return text, ""
    host, colon, port = text.rpartition(":")
    return (host, port) if colon else (text, "")


def where(dsn: str) -> str:
    """Return the servers of a DSN as host:port, nothing else of it."""
    try:
        check_dsn(dsn)
    except ValueError:
        return "the server"
    parts = urlsplit(dsn)
    named = [f"{host}:{port or _DEFAULT_PORT}" for host, port in _servers(parts)]
    return ", ".join(named or parse_qs(parts.query).get("host", ["the local server"]))


def unreachable(dsn: str, why: str) -> DatabaseUnreachableError:
    """Return the error that says which server there is no connection to, and why."""
    return DatabaseUnreachableError(f"no connection to PostgreSQL at {where(dsn)} ({VARIABLE}): {why}")


@contextmanager
def reaching(dsn: str) -> Iterator[None]:
    """Have what fails within say which server was to be reached. Raises DatabaseUnreachableError."""
    try:
        yield
    except OSError as error:
        raise unreachable(dsn, str(error) or type(error).__name__) from error
    except asyncpg.InterfaceError as error:
        # Its text may repeat part of the DSN, or a file's name at best.
        raise DatabaseUnreachableError(f"{VARIABLE} cannot be used: {type(error).__name__}") from None
