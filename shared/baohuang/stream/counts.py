"""How far relays and consumers are."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from baohuang.metrics.family import Family, Histogram, Kind, Reading

PUBLISHING: Final = Family(
    "baohuang_relay_publishing",
    Kind.GAUGE,
    "1 in the replica that publishes the stream, 0 in those that stand by; no 1 anywhere: nobody does.",
    ("stream",),
)
PUBLISHED: Final = Family(
    "baohuang_relay_published_number",
    Kind.GAUGE,
    "The number of the last message that this replica published to the stream.",
    ("stream",),
)
BEHIND: Final = Family(
    "baohuang_relay_behind_seconds",
    Kind.GAUGE,
    "Relay lag: seconds since the publishing replica had published all there was; 0 in those that stand by.",
    ("stream",),
)
TROUBLE: Final = Family(
    "baohuang_relay_failures_total", Kind.COUNTER, "Times that a relay had to begin again.", ("stream",)
)
AHEAD: Final = Family(
    "baohuang_relay_stream_ahead_messages",
    Kind.GAUGE,
    "Messages the stream had beyond its source's end when this replica last found that: the log was restored to an"
    " earlier state, or lost its end. 0 if it never did.",
    ("stream",),
)
LAG: Final = Family(
    "baohuang_consumer_lag_messages",
    Kind.GAUGE,
    "Consumer lag: messages of the stream that this consumer has still to apply, when this replica last looked; not"
    " told while it does not run.",
    ("consumer",),
)
DELAY: Final = Family(
    "baohuang_consumer_delay_seconds",
    Kind.HISTOGRAM,
    "Seconds from the publishing of a message to its being applied; of the oldest of each batch.",
    ("consumer",),
)
REACHED: Final = Family(
    "baohuang_consumer_reached_number",
    Kind.GAUGE,
    "The number of the last message that the consumer is past, as far as this replica knows.",
    ("consumer",),
)
RUNNING: Final = Family(
    "baohuang_consumer_running",
    Kind.GAUGE,
    "1 while this replica consumes, 0 while it waits: for NATS, for its database, or with an alarm.",
    ("consumer",),
)
ALARM: Final = Family(
    "baohuang_consumer_alarm",
    Kind.GAUGE,
    "1 while the consumer stands still with an alarm, until somebody has looked.",
    ("consumer",),
)
SET_ASIDE: Final = Family(
    "baohuang_consumer_set_aside_messages",
    Kind.GAUGE,
    "Messages that could not be applied, by whichever replica, and are still to be settled, when this one last looked.",
    ("consumer",),
)
_DELAYS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)


@dataclass(slots=True)
class RelayCounts:
    """Of one relay.

    `all_out_at` is when it had last published all there was, by the monotonic clock; `ahead` how many messages the
    stream had that the source has not, when that was found last.
    """

    publishing: bool = False
    number: int = 0
    all_out_at: float = 0.0
    failures: int = 0
    ahead: int = 0


@dataclass(slots=True)
class ConsumerCounts:
    """Of one consumer; `lag` and `set_aside` are None while nobody has looked."""

    running: bool = False
    alarmed: bool = False
    lag: int | None = None
    reached: int = 0
    set_aside: int | None = None
    delay: Histogram = field(default_factory=lambda: Histogram(_DELAYS))


def read_relay(stream: str, counts: RelayCounts) -> Iterator[Reading]:
    """Read the counts of a relay."""
    behind = max(0.0, time.monotonic() - counts.all_out_at) if counts.publishing else 0.0
    yield Reading(PUBLISHING, {(stream,): int(counts.publishing)})
    yield Reading(PUBLISHED, {(stream,): counts.number})
    yield Reading(BEHIND, {(stream,): behind})
    yield Reading(TROUBLE, {(stream,): counts.failures})
    yield Reading(AHEAD, {(stream,): counts.ahead})


def read_consumer(consumer: str, counts: ConsumerCounts) -> Iterator[Reading]:
    """Read the counts of a consumer."""
    lag, set_aside = counts.lag, counts.set_aside
    yield Reading(LAG, {} if lag is None or not counts.running else {(consumer,): lag})
    yield Reading(DELAY, {(consumer,): counts.delay})
    yield Reading(REACHED, {(consumer,): counts.reached})
    yield Reading(RUNNING, {(consumer,): int(counts.running)})
    yield Reading(ALARM, {(consumer,): int(counts.alarmed)})
    yield Reading(SET_ASIDE, {} if set_aside is None else {(consumer,): set_aside})
