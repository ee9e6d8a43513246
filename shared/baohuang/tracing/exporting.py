"""Sending what was sampled to the collector, from a thread of its own, for as long as a process serves.

Spans wait in a queue that holds OTEL_BSP_MAX_QUEUE_SIZE of them (2048): when the collector is away or too slow, the
oldest are dropped. Nothing waits for the collector but the end of the process, and that for a bounded time.
"""

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import grpc
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON, ParentBased, Sampler, TraceIdRatioBased

from baohuang.tls.files import Pem, Tls
from baohuang.tls.renewal import Renewed
from baohuang.tracing.settings import TraceSettings

_VARIABLES: Final = "OTEL_"
ENDING_SECONDS: Final = 2.0
"""How long the end of a process waits for the collector to take what is left."""


@contextmanager
def exporting(settings: TraceSettings, endpoint: str, service: str, replica: str, ours: Tls | None) -> Iterator[None]:
    """Tell the traces of this process until the end of the block; once a process.

    `service` is its name if the settings have none, `replica` its instance's, `ours` the files for TLS with other
    services. Raises CertificateError.
    """
    _forget_what_says_nothing()
    exporter = _Exporter(endpoint, settings.tls(ours), settings.timeout_seconds)
    provider = TracerProvider(
        _sampler(settings), _resource(settings.service_name or service, replica), shutdown_on_exit=False
    )
    provider.add_span_processor(
        BatchSpanProcessor(exporter, settings.queue, settings.delay_ms, settings.batch, settings.export_ms)
    )
    trace.set_tracer_provider(provider)
    try:
        yield
    finally:
        ending = threading.Thread(target=provider.shutdown, name="last traces", daemon=True)
        ending.start()
        ending.join(ENDING_SECONDS)
        exporter.shutdown()


class _Exporter(SpanExporter):
    """Exports by OTLP over gRPC, with the certificates that stand in the files at the time."""

    def __init__(self, endpoint: str, tls: Tls | None, timeout_seconds: float) -> None:
        """Open the first connection. Raises CertificateError."""
        self._endpoint: Final = endpoint
        self._timeout_seconds: Final = timeout_seconds
        self._renewed: Final = None if tls is None else Renewed(tls)
        self._shown = self._now()
        self._newest = self._opened()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """See `SpanExporter.export`."""
        pem = self._now()
        if pem is not self._shown:
            self._newest.shutdown()
            self._shown = pem
            self._newest = self._opened()
        return self._newest.export(spans)

    def shutdown(self) -> None:
        """See `SpanExporter.shutdown`."""
        self._newest.shutdown()

    def _now(self) -> Pem | None:
        return None if self._renewed is None else self._renewed.now()

    def _opened(self) -> OTLPSpanExporter:
        if self._shown is None:
            return OTLPSpanExporter(self._endpoint, insecure=True, timeout=self._timeout_seconds)
        pem = self._shown
        credentials = grpc.ssl_channel_credentials(pem.authorities, pem.key, pem.certificate)
        return OTLPSpanExporter(self._endpoint, insecure=False, credentials=credentials, timeout=self._timeout_seconds)


def _forget_what_says_nothing() -> None:
    """Take away variables that are empty: OpenTelemetry's specification has them as not given, its SDK not all."""
    for name in [name for name, text in os.environ.items() if name.startswith(_VARIABLES) and not text]:
        del os.environ[name]


def _resource(service: str, replica: str) -> Resource:
    return Resource.create({"service.name": service, **({"service.instance.id": replica} if replica else {})})


def _sampler(settings: TraceSettings) -> Sampler:
    ratio = 1.0 if settings.ratio is None else settings.ratio
    root = {
        "always_on": ALWAYS_ON,
        "always_off": ALWAYS_OFF,
        "traceidratio": TraceIdRatioBased(ratio),
    }[settings.sampler.removeprefix("parentbased_")]
    return ParentBased(root) if settings.sampler.startswith("parentbased_") else root
