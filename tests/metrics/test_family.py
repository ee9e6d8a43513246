import pytest

from baohuang.metrics.endpoint import Endpoint
from baohuang.metrics.family import Family, Histogram, Kind, Metrics, Reading, alone
from metrics.scraping import page_at


def test_a_histogram_counts_up_to_and_including_its_bounds() -> None:
    """What equals a bound is at most so large; what is larger than all is counted too."""
    histogram = Histogram((1, 5))
    for value in (1, 1.5, 5, 6):
        histogram.add(value)
    assert (histogram.counts, histogram.total) == ([1, 2, 1], 13.5)


def test_what_two_count_is_one_family() -> None:
    """Two stores of a process tell theirs under one name, by their labels."""
    family = Family("baohuang_things_total", Kind.COUNTER, "Things.", ("store",))
    metrics = Metrics()
    metrics.add(lambda: [Reading(family, {("one",): 1})])
    metrics.add(lambda: [Reading(family, {("other",): 2})])
    assert metrics.readings() == [Reading(family, {("one",): 1, ("other",): 2})]


async def test_the_page_says_what_was_counted() -> None:
    """Counters, gauges and histograms come out as Prometheus reads them; values are those at the time of asking."""
    sizes, counted = Histogram((1, 5)), [7.0]
    metrics = Metrics()
    metrics.add(
        lambda: [
            Reading(Family("baohuang_done_total", Kind.COUNTER, "Done.", ("how",)), {("well",): counted[0]}),
            Reading(Family("baohuang_level", Kind.GAUGE, "Level."), alone(-1.5)),
            Reading(Family("baohuang_size", Kind.HISTOGRAM, "Size."), alone(sizes)),
        ]
    )
    endpoint = Endpoint(metrics, "127.0.0.1", 0)
    try:
        sizes.add(3)
        sizes.add(9)
        counted[0] = 8.0
        page = await page_at(endpoint.port)
    finally:
        endpoint.close()
    assert page.value("baohuang_done_total", how="well") == 8.0
    assert page.value("baohuang_level") == -1.5
    assert [page.value("baohuang_size_bucket", le=le) for le in ("1.0", "5.0", "+Inf")] == [0, 1, 2]
    assert (page.value("baohuang_size_count"), page.value("baohuang_size_sum")) == (2, 12)
    assert page.value("process_resident_memory_bytes") > 0


def test_an_address_that_is_taken_is_told() -> None:
    """Two cannot listen at one address."""
    endpoint = Endpoint(Metrics(), "127.0.0.1", 0)
    try:
        with pytest.raises(OSError, match="in use"):
            Endpoint(Metrics(), "127.0.0.1", endpoint.port)
    finally:
        endpoint.close()
