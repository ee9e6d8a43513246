"""`baohuang reverse`: an operator takes a fine or a void back, at a backend that is running."""

import asyncio
from pathlib import Path
from typing import Annotated, Final, NoReturn

import msgspec
import typer

from baohuang.client import (
    BearerToken,
    ClientError,
    Credentials,
    Patience,
    Receipt,
    RefusedError,
    connect_history,
)
from baohuang.client.commands import fresh_id
from baohuang.eventlog.port import RequestId, Version
from baohuang.rpc.auth import Role, caller_id
from baohuang.rules.state import PlayerId, TableId
from baohuang.tls.files import CertificateError, Tls
from command_line.audit.asking import DIFFERENT, cannot_tell
from command_line.development_key import DEFAULT_DATA_DIR
from command_line.identities import by_key
from command_line.reaching import NotReachedError, reached
from command_line.running import address_of, key_of
from command_line.saying import complain, say

_PATIENCE: Final = Patience(attempts=8)
"""Some five seconds, for somebody who waits at a terminal."""


def reverse(
    *,
    table: Annotated[str, typer.Argument(help="the table's id")],
    version: Annotated[int, typer.Argument(min=1, help="the version of the ruling in the table's stream")],
    reason: Annotated[str, typer.Option(help="why: 1 to 200 characters, kept with it and shown to everybody")],
    data: Annotated[Path, typer.Option(help="the data folder of `baohuang up`")] = DEFAULT_DATA_DIR,
    address: Annotated[str | None, typer.Option(help="host:port of a table service, instead of that folder's")] = None,
    token: Annotated[
        str | None, typer.Option(envvar="BAOHUANG_TOKEN", help="an operator's, instead of one by that folder's key")
    ] = None,
    ca: Annotated[Path | None, typer.Option(help="PEM file of the service's authorities: over TLS")] = None,
    cert: Annotated[Path | None, typer.Option(help="PEM file of the certificate to show it")] = None,
    key: Annotated[Path | None, typer.Option(help="PEM file of that certificate's key")] = None,
    operator: Annotated[str, typer.Option(help="who you are; a --token says so itself")] = "operator",
    request_id: Annotated[
        str | None, typer.Option(help="that of a reversal which was not answered, to learn what became of it")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object")] = False,
) -> None:
    """Take a fine back, or that a hand is void which was played to its end; the points follow.

    Exits with 1 if it is refused, having told why; 2 if it cannot be told whether it was done.
    """
    credentials = _operator(data, operator) if token is None else BearerToken(token)
    service = address or address_of(data)

    asked = RequestId(request_id) if request_id else fresh_id()

    async def reversing() -> Receipt:
        files = Tls(ca, cert, key)
        tls = None if files == Tls() else files
        await reached(service, tls)
        async with connect_history(service, credentials, _PATIENCE, tls=tls) as history:
            return await history.reverse(TableId(table), Version(version), reason, request_id=asked)

    try:
        receipt = asyncio.run(reversing())
    except RefusedError as refused:
        _refused(refused, as_json=as_json)
    except NotReachedError as error:
        _unanswered(f"{error}: this time nothing was sent to it", "notSent", asked, as_json=as_json)
    except ClientError as error:
        _unanswered(str(error), "unanswered", asked, as_json=as_json)
    except CertificateError as error:
        cannot_tell(error)
    if as_json:
        say(msgspec.json.encode({"table": table, "version": receipt.version, "hash": receipt.hash.hex()}).decode())
    else:
        say(f"taken back at version {receipt.version}; the points follow")


def _unanswered(why: str, what: str, asked: RequestId, *, as_json: bool) -> NoReturn:
    """Tell that no answer came, and the request id to ask again with, and exit so."""
    if as_json:
        say(msgspec.json.encode({what: why, "requestId": asked}).decode())
    elif what == "unanswered":
        complain(f"it may be done: ask again with --request-id {asked}")
    cannot_tell(why)


def _refused(refused: RefusedError, *, as_json: bool) -> NoReturn:
    """Tell why, and exit so."""
    if as_json:
        told = {"refused": refused.reason, "rule": refused.rule, "message": refused.message}
        say(msgspec.json.encode(told).decode())
    else:
        complain(f"refused: {refused}{f' ({refused.rule})' if refused.rule else ''}")
    raise typer.Exit(DIFFERENT)


def _operator(data: Path, name: str) -> Credentials:
    if caller_id(name) is None:
        raise typer.BadParameter(
            "1 to 64 of A-Z a-z 0-9 . _ @ : -, the first a letter or digit", param_hint="--operator"
        )
    return by_key(key_of(data), Role.OPERATOR)(PlayerId(name))
