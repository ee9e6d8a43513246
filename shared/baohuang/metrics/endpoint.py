"""The page that Prometheus reads: `GET /metrics` on an address of its own, answered by a thread.

Imported only where it is wanted: the library costs more at the start of a process than most of what that is made of.
"""

import threading
from collections.abc import Iterator
from itertools import accumulate
from typing import assert_never
from wsgiref.simple_server import WSGIServer

from prometheus_client import CollectorRegistry, ProcessCollector, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from baohuang.metrics.family import Histogram, Kind, Metrics, Reading


class Endpoint:
    """Serves metrics from its making until it is closed."""

    def __init__(self, metrics: Metrics, host: str, port: int) -> None:
        """Listen at an address, port 0 for any. Raises OSError if it cannot be had."""
        registry = CollectorRegistry(auto_describe=False)
        registry.register(_Collector(metrics))
        ProcessCollector(registry=registry)
        self._server: WSGIServer
        self._thread: threading.Thread
        self._server, self._thread = start_http_server(port, host, registry)

    @property
    def port(self) -> int:
        """Where it listens."""
        return self._server.server_port

    def close(self) -> None:
        """Serve no more. Blocks for a moment."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Collector(Collector):
    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        """Give everything as it is now."""
        return map(_family, self._metrics.readings())


def _family(reading: Reading) -> Metric:
    family = reading.family
    match family.kind:
        case Kind.COUNTER:
            return _numbers(CounterMetricFamily(family.name, family.says, labels=family.labels), reading)
        case Kind.GAUGE:
            return _numbers(GaugeMetricFamily(family.name, family.says, labels=family.labels), reading)
        case Kind.HISTOGRAM:
            return _histograms(HistogramMetricFamily(family.name, family.says, labels=family.labels), reading)
    assert_never(family.kind)


def _numbers(shown: CounterMetricFamily | GaugeMetricFamily, reading: Reading) -> Metric:
    for labels, value in reading.values.items():
        if not isinstance(value, Histogram):
            shown.add_metric(labels, value)
    return shown


def _histograms(shown: HistogramMetricFamily, reading: Reading) -> Metric:
    for labels, value in reading.values.items():
        if isinstance(value, Histogram):
            shown.add_metric(labels, _buckets(value), value.total)
    return shown


def _buckets(histogram: Histogram) -> list[tuple[str, float]]:
    """Return the counts as Prometheus has them: of all that is at most so large, up to all there is."""
    bounds = [*map(floatToGoString, histogram.bounds), "+Inf"]
    return list(zip(bounds, accumulate(tuple(histogram.counts)), strict=True))
