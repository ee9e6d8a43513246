"""A real collector: a gRPC server that takes what is exported to it by OTLP, and keeps it."""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import (
    TraceServiceServicer,
    add_TraceServiceServicer_to_server,
)
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span


@dataclass(frozen=True, slots=True)
class Told:
    """A span as it came in, and the service that told it."""

    service: str
    span: Span

    @property
    def name(self) -> str:
        """Its name."""
        return self.span.name

    @property
    def attributes(self) -> dict[str, str | int]:
        """Its attributes, those that are text or whole numbers."""
        found: dict[str, str | int] = {}
        for one in self.span.attributes:
            value = one.value
            found[one.key] = value.string_value if value.HasField("string_value") else value.int_value
        return found


@dataclass(slots=True)
class Collector(TraceServiceServicer):
    """What came in; where `held` is cleared, whoever exports waits until it is set."""

    port: int = 0
    raw: list[bytes] = field(default_factory=list)
    held: threading.Event = field(default_factory=threading.Event)
    asked: threading.Event = field(default_factory=threading.Event)

    @property
    def endpoint(self) -> str:
        """Where it listens, as OTEL_EXPORTER_OTLP_ENDPOINT has it."""
        return f"http://127.0.0.1:{self.port}"

    def Export(self, request: ExportTraceServiceRequest, _context: object) -> ExportTraceServiceResponse:  # noqa: N802
        """Take spans in."""
        self.asked.set()
        self.held.wait()
        self.raw.append(request.SerializeToString())
        return ExportTraceServiceResponse()

    def told(self) -> Sequence[Told]:
        """Return all spans that came in so far."""
        return [
            Told(_service(resource.resource), span)
            for raw in list(self.raw)
            for resource in ExportTraceServiceRequest.FromString(raw).resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def trace(self, trace_id: bytes) -> Sequence[Told]:
        """Return the spans of a trace that came in so far."""
        return [one for one in self.told() if one.span.trace_id == trace_id]


def _service(resource: Resource) -> str:
    named = {one.key: one.value.string_value for one in resource.attributes}
    return named["service.name"]


@contextmanager
def collecting(credentials: grpc.ServerCredentials | None = None) -> Iterator[Collector]:
    """Give a collector that listens on this machine."""
    collector = Collector()
    collector.held.set()
    server = grpc.server(ThreadPoolExecutor(8))
    add_TraceServiceServicer_to_server(collector, server)  # type: ignore[no-untyped-call]
    address = "127.0.0.1:0"
    collector.port = server.add_secure_port(address, credentials) if credentials else server.add_insecure_port(address)
    server.start()
    try:
        yield collector
    finally:
        collector.held.set()
        server.stop(None).wait()
