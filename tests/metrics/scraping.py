"""Reading metrics as Prometheus does."""

import asyncio
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass

from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

from baohuang.metrics.family import Histogram
from baohuang.rpc.server import RpcServer


@dataclass(frozen=True, slots=True)
class Page:
    """What a page said."""

    families: Mapping[str, Metric]

    @property
    def label_values(self) -> frozenset[str]:
        """All that is said to tell metrics of one name apart."""
        samples = (one for family in self.families.values() for one in family.samples)
        return frozenset(value for one in samples for value in one.labels.values())

    def value(self, sample: str, **labels: str) -> float:
        """Return the value of the one sample with such labels among its own; 0 if there is none."""
        wanted = labels.items()
        found = [
            one.value
            for family in self.families.values()
            for one in family.samples
            if one.name == sample and wanted <= one.labels.items()
        ]
        assert len(found) <= 1, (sample, labels, found)
        return float(found[0]) if found else 0.0


def counted(server: RpcServer, name: str, *labels: str) -> float:
    """Return what a server has counted under a name and labels, whether it tells Prometheus or not."""
    (found,) = (one.values[labels] for one in server.metrics.readings() if one.family.name == name)
    assert not isinstance(found, Histogram)
    return found


async def scraped(server: RpcServer) -> Page:
    """Read the metrics of a server."""
    assert server.endpoint is not None
    return await page_at(server.endpoint.port)


async def page_at(port: int) -> Page:
    """Read the metrics at a port of this machine."""
    text = await asyncio.to_thread(_read, f"http://127.0.0.1:{port}/metrics")
    return Page({_exposed_name(family): family for family in text_string_to_metric_families(text)})


def _exposed_name(family: Metric) -> str:
    """Return the name as it stands on the page: the library's takes the end off a counter's."""
    return f"{family.name}_total" if family.type == "counter" else str(family.name)


def _read(url: str) -> str:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url, timeout=10) as response:
        text: bytes = response.read()
    return text.decode()
