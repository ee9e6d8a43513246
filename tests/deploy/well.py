"""What all services tell while all is well, from the counts that they keep, and to be changed from there."""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import rating_service.wiring
import scoring_service.wiring
from baohuang.database.flush_counts import FlushCounts, read_flushes
from baohuang.metrics.bugs import Bugs
from baohuang.metrics.endpoint import _Collector
from baohuang.metrics.family import Metrics, Reading, alone
from baohuang.rpc.call_counts import CallCounts, read_calls
from baohuang.rpc.key_counts import UNSOUND
from baohuang.rpc.reason import Reason
from baohuang.rpc.service_token import EXPIRES as TOKEN_EXPIRES
from baohuang.stream.counts import ConsumerCounts, RelayCounts, read_consumer, read_relay
from baohuang.stream.streams import SCORING_STREAM, TABLE_STREAM
from baohuang.tls.counts import EXPIRES, SOUND
from command_line.bots.counts import KEPT_OUT
from command_line.serving import SERVED
from deploy.promql import NAME, Labels, Told
from deploy.served import services_of
from matchmaking_service.counts import FormingCounts, SeatingCounts, read_matches
from table_service.counts import CommandCounts, lateness, read_commands, read_replica

AT: Final = datetime(2026, 1, 26, 19, tzinfo=UTC)
DAYS: Final = 86400.0


@dataclass(slots=True)
class Flushes:
    """A flush loop, as far as it is counted."""

    name: str
    counts: FlushCounts = field(default_factory=FlushCounts)
    waiting: int = 3
    in_flight_seconds: float = 0.004


@dataclass(slots=True)
class Many:
    """Who has watches and tables."""

    watches: int = 600
    slow_readers: int = 0
    number: int = 120


def _calls() -> dict[str, dict[str, CallCounts]]:
    """Return a method of each service, with calls of it; the log was away before, for a moment."""
    methods = {name: sorted(services_of(name)) or ["grpc.health.v1.Health"] for name in SERVED}
    return {name: {f"/{one}/Any": _called() for one in found} for name, found in methods.items()}


def _called() -> CallCounts:
    counts = CallCounts(1000, 990)
    counts.refused[Reason.LOG_UNAVAILABLE] = 1
    return counts


def _bugs() -> dict[str, Bugs]:
    """Return those of each service: a part that has met none."""
    found = {name: Bugs() for name in SERVED}
    for one in found.values():
        one.expect("Worker")
    return found


@dataclass(slots=True)
class System:
    """What is counted in one replica of each service. `up` are those that Prometheus reaches."""

    commands: CommandCounts = field(default_factory=lambda: CommandCounts(accepted=5000, position=5000))
    log: Flushes = field(default_factory=lambda: Flushes("event log"))
    queue: Flushes = field(default_factory=lambda: Flushes("queue of tickets"))
    replica: Many = field(default_factory=Many)
    late: Any = field(default_factory=lateness)
    ahead: float = 0.05
    relays: dict[str, RelayCounts] = field(default_factory=dict)
    consumers: dict[str, ConsumerCounts] = field(default_factory=dict)
    calls: dict[str, dict[str, CallCounts]] = field(default_factory=_calls)
    expires_in: float = 60 * DAYS
    authorities_expire_in: float = 600 * DAYS
    unsound: set[str] = field(default_factory=set)
    token_expires_in: float = 60 * DAYS
    keys_unsound: float = 0.0
    bots_kept_out: float = 0.0
    bugs: dict[str, Bugs] = field(default_factory=_bugs)
    forming: FormingCounts = field(default_factory=FormingCounts)
    seating: SeatingCounts = field(default_factory=SeatingCounts)
    up: set[str] = field(default_factory=lambda: set(SERVED))

    def told(self) -> dict[Labels, float]:
        """Return all samples that Prometheus has of it, with the labels that it adds."""
        found = {labels: value for name in self.up for labels, value in _samples(name, self._readings(name))}
        reached = {name: float(name in self.up) for name in SERVED}
        return found | {labelled("up", name, {}): value for name, value in reached.items()}

    def _readings(self, service: str) -> Iterable[Reading]:
        yield from read_calls(self.calls[service])
        yield from self.bugs[service].read()
        yield Reading(UNSOUND, alone(self.keys_unsound))
        ends = {"certificate": self.expires_in, "authorities": self.authorities_expire_in}
        yield Reading(EXPIRES, {("server", file): AT.timestamp() + end for file, end in ends.items()})
        yield Reading(SOUND, {("server",): int(service not in self.unsound)})
        match service:
            case "table":
                yield from read_commands(self.commands)
                yield from read_flushes(self.log)
                clock = datetime.now(UTC) - timedelta(seconds=self.ahead)
                yield from read_replica(self.replica, self.replica, self.late, lambda: clock)
                yield from read_relay(TABLE_STREAM.name, self.relays[TABLE_STREAM.name])
            case "scoring":
                yield from read_relay(SCORING_STREAM.name, self.relays[SCORING_STREAM.name])
                yield from read_consumer("scoring", self.consumers["scoring"])
            case "rating":
                yield from read_consumer("rating", self.consumers["rating"])
            case "matchmaking":
                yield from read_flushes(self.queue)
                yield from read_matches(self.forming, self.seating)
                yield Reading(TOKEN_EXPIRES, alone(AT.timestamp() + self.token_expires_in))
            case "bots":
                yield Reading(KEPT_OUT, alone(self.bots_kept_out))


def well() -> System:
    """Return a system in which everything goes well, long enough for every count to be more than nothing."""
    system = System()
    for stream in (TABLE_STREAM, SCORING_STREAM):
        system.relays[stream.name] = RelayCounts(publishing=True, number=5000, all_out_at=float("inf"))
    for one in (scoring_service.wiring.SUBSCRIPTION, rating_service.wiring.SUBSCRIPTION):
        system.consumers[one.consumer] = ConsumerCounts(running=True, lag=4, reached=5000, set_aside=0)
    play(system, 1000)
    return system


def play(system: System, times: int) -> None:
    """Have commands decided, stored and published, quickly, and one in a hundred with a conflict."""
    system.commands.accepted += times
    system.commands.hands_started += times // 100
    system.commands.hands_finished["ourgame-simple", "played"] += times // 100
    system.commands.rulings["TurnExtended", "TRUST-5"] += 1
    system.forming.formed += times // 100
    system.seating.seated += times // 100
    system.seating.put_off += 1
    for store in (system.log, system.queue):
        store.counts.outcomes["Appended"] += times
        store.counts.outcomes["VersionConflict"] += times // 100
        for _ in range(times):
            store.counts.seconds.add(0.004)
            store.counts.commands.add(3)
    for _ in range(times):
        system.late.add(0.03)
        for consumer in system.consumers.values():
            consumer.delay.add(0.02)


def later(system: System) -> System:
    """Return the same system after some play."""
    after = deepcopy(system)
    play(after, 300)
    return after


def between(then: System, now: System) -> Told:
    """Return what was told at the one moment and at the other."""
    return Told(then.told(), now.told(), AT.timestamp())


def _samples(service: str, readings: Iterable[Reading]) -> Iterable[tuple[Labels, float]]:
    metrics = Metrics()
    listed = list(readings)
    metrics.add(lambda: listed)
    for family in _Collector(metrics).collect():
        for sample in family.samples:
            yield labelled(sample.name, service, sample.labels), float(sample.value)


def labelled(name: str, service: str, labels: Mapping[str, str]) -> Labels:
    """Return the labels of a sample as Prometheus has them of the first replica of a service."""
    added = {"job": service, "pod": f"{service}-0", "namespace": "baohuang"}
    return frozenset({NAME: name, **added, **labels}.items())
