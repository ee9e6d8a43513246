"""`baohuang health`: whether a service serves, as it says by grpc.health.v1; for health checks, and for people."""

import asyncio
from pathlib import Path
from typing import Annotated, Final

import grpc
import typer
from grpc_health.v1 import health_pb2, health_pb2_grpc

from baohuang.rpc.listening import is_address
from baohuang.tls.channel import Options, open_channel
from baohuang.tls.files import CertificateError, Tls
from command_line.saying import complain, say

_OPTIONS: Final[Options] = (("grpc.use_local_subchannel_pool", 1),)
_EXPECTED_NAME: Final = "grpc.ssl_target_name_override"
_SERVING: Final = "SERVING"
ANSWER_SECONDS: Final = 4.0


class _NotServingError(Exception):
    """It does not serve, or does not say so; the text tells what was found."""


def health(
    address: Annotated[str, typer.Argument(metavar="ADDRESS", help="host:port where it serves")],
    *,
    service: Annotated[
        str, typer.Option(help="this gRPC service of it, such as baohuang.table.v1.TableService; none: all of it")
    ] = "",
    seconds: Annotated[float, typer.Option(min=0.1, help="how long it may take to answer")] = ANSWER_SECONDS,
    ca: Annotated[
        Path | None, typer.Option(envvar="BAOHUANG_TLS_CA", help="PEM file of its authorities: over TLS")
    ] = None,
    cert: Annotated[
        Path | None, typer.Option(envvar="BAOHUANG_TLS_CERT", help="PEM file of the certificate to show it: over TLS")
    ] = None,
    key: Annotated[
        Path | None, typer.Option(envvar="BAOHUANG_TLS_KEY", help="PEM file of that certificate's key")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="host name to find in its certificate, where ADDRESS is not in it: over TLS")
    ] = None,
    in_the_clear: Annotated[
        bool, typer.Option("--in-the-clear", help="without TLS, whatever is set: for BAOHUANG_PROBE_LISTEN")
    ] = False,
) -> None:
    """Ask a service whether it serves, and say what it answers. Exits with 0 if it does, 1 if not or nobody answers."""
    if not is_address(address):
        raise typer.BadParameter("must be host:port, as in 127.0.0.1:50051", param_hint="ADDRESS")
    try:
        files = Tls() if in_the_clear else Tls(ca, cert, key)
        tls = None if files == Tls() else files
        if name is not None and tls is None:
            raise typer.BadParameter("is of a certificate, and nothing says to call over TLS", param_hint="--name")
        options = _OPTIONS if name is None else (*_OPTIONS, (_EXPECTED_NAME, name))
        asyncio.run(_served(address, service, seconds, tls, options))
    except (_NotServingError, CertificateError) as error:
        complain(f"{address}: {error}")
        raise typer.Exit(1) from None
    say(f"{address}: {_SERVING}")


async def _served(address: str, service: str, seconds: float, tls: Tls | None, options: Options) -> None:
    """Have it say that it serves. Raises _NotServingError, CertificateError."""
    async with open_channel(address, tls, options) as channel:
        check = health_pb2_grpc.HealthStub(channel).Check
        try:
            answer = await check(health_pb2.HealthCheckRequest(service=service), timeout=seconds)
        except grpc.aio.AioRpcError as failed:
            raise _NotServingError(_why(failed, service)) from failed
    told = health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status)
    if told != _SERVING:
        raise _NotServingError(told)


def _why(failed: grpc.aio.AioRpcError, service: str) -> str:
    if failed.code() is grpc.StatusCode.NOT_FOUND:
        return f"serves no {service}"
    return f"no answer: {failed.code().name}: {failed.details()}"
