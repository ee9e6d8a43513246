"""Whether services are served, as grpc.health.v1 has it.

The servicer of grpcio-health-checking writes to its watchers with a lock held that every change of state needs: one who
does not read would keep all others, and probes, from being told. Here each is told by itself.
"""

import asyncio
from typing import Any, Final

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

Context = grpc.aio.ServicerContext[Any, Any]
_ALL: Final = ""
"""The name of the server as a whole."""


class Health(health_pb2_grpc.HealthServicer):  # type: ignore[misc] # of an untyped package
    """Tells of each service, and of the server, whether it serves; until it goes."""

    def __init__(self) -> None:
        self._status: Final = {_ALL: health_pb2.HealthCheckResponse.SERVING}
        self._watching: Final[set[asyncio.Event]] = set()
        self._going = False

    def serves(self, service: str) -> None:
        """Say from now on that the service is served."""
        self._status[service] = health_pb2.HealthCheckResponse.SERVING
        self._tell()

    def goes(self) -> None:
        """Say from now on that nothing is served; watches end behind that, so that they hold up no drain."""
        self._going = True
        for service in self._status:
            self._status[service] = health_pb2.HealthCheckResponse.NOT_SERVING
        self._tell()

    async def Check(  # noqa: N802 (the contract names it)
        self, request: health_pb2.HealthCheckRequest, context: Context
    ) -> health_pb2.HealthCheckResponse:
        """Tell how it is now; NOT_FOUND for a service that is not served here."""
        status = self._status.get(request.service)
        if status is None:
            await context.abort(grpc.StatusCode.NOT_FOUND, "no such service here")
        return health_pb2.HealthCheckResponse(status=status)

    async def Watch(  # noqa: N802 (the contract names it)
        self, request: health_pb2.HealthCheckRequest, context: Context
    ) -> None:
        """Tell how it is now, and whenever that changes."""
        told, changed = None, asyncio.Event()
        self._watching.add(changed)
        try:
            while (status := self._of(request.service)) != told or not self._going:
                if status == told:
                    await changed.wait()
                    changed.clear()
                else:
                    await context.write(health_pb2.HealthCheckResponse(status=status))
                    told = status
        finally:
            self._watching.discard(changed)

    def _of(self, service: str) -> Any:
        return self._status.get(service, health_pb2.HealthCheckResponse.SERVICE_UNKNOWN)

    def _tell(self) -> None:
        for changed in self._watching:
            changed.set()
