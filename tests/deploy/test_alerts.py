"""Each alert fires when that has happened which it is for, and none while all is well; what they say has its labels.

What is told comes from the counts that services keep, so a name, a label or a value that nobody tells is found.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest

from baohuang.rpc.reason import Reason
from command_line.serving import SERVED
from deploy.promql import evaluate
from deploy.test_monitoring import rules
from deploy.well import DAYS, System, between, later, well

ALERTS: Final[Mapping[str, Any]] = {one["alert"]: one for one in rules()}
_LABEL: Final = re.compile(r"\$labels\.(\w+)|\{\{[^}]*\$(?!labels\.|value)(\w+)")


def firing(then: System, now: System) -> set[str]:
    """Return the alerts whose expressions have samples."""
    told = between(then, now)
    return {name for name, one in ALERTS.items() if evaluate(one["expr"], told)}


def _a_call_failed(now: System) -> None:
    next(iter(now.calls["history"].values())).failed += 1


def _a_command_failed(now: System) -> None:
    now.commands.failed += 1


def _a_flush_met_a_bug(now: System) -> None:
    now.queue.counts.bugs += 1


def _flushes_are_not_sent(now: System) -> None:
    now.log.counts.unsent += 3


def _flushes_are_refused(now: System) -> None:
    now.queue.counts.refused += 3


def _flushes_take_a_second(now: System) -> None:
    for _ in range(300):
        now.log.counts.seconds.add(0.9)


def _a_flush_is_not_answered(now: System) -> None:
    now.log.in_flight_seconds = 30.0


def _many_commands_wait(now: System) -> None:
    now.log.waiting = 150


def _deadlines_are_late(now: System) -> None:
    for _ in range(300):
        now.late.add(4.0)


def _nobody_publishes(now: System) -> None:
    now.relays["baohuang-scoring"].publishing = False


def _the_relay_is_behind(now: System) -> None:
    now.relays["baohuang-table"].all_out_at = float("-inf")


def _the_stream_was_ahead(now: System) -> None:
    now.relays["baohuang-table"].ahead = 2


def _a_consumer_stopped(now: System) -> None:
    consumer = now.consumers["rating"]
    consumer.running, consumer.lag = False, None


def _a_consumer_has_an_alarm(now: System) -> None:
    _a_consumer_stopped(now)
    now.consumers["rating"].alarmed = True


def _a_consumer_is_behind(now: System) -> None:
    now.consumers["scoring"].lag = 2000


def _something_is_set_aside(now: System) -> None:
    now.consumers["scoring"].set_aside = 1


def _readers_are_slow(now: System) -> None:
    now.replica.slow_readers += 1000


def _commands_meet(now: System) -> None:
    now.log.counts.outcomes["VersionConflict"] += 200


def _the_clock_is_ahead(now: System) -> None:
    now.ahead = 3.0


def _the_clock_is_behind(now: System) -> None:
    now.ahead = -3.0


def _a_certificate_expires(now: System) -> None:
    now.expires_in = 5 * DAYS


def _an_authority_expires(now: System) -> None:
    now.authorities_expire_in = 5 * DAYS


def _certificates_cannot_be_used(now: System) -> None:
    now.unsound.add("scoring")


def _a_worker_met_a_bug(now: System) -> None:
    now.bugs["matchmaking"].met("Worker", ZeroDivisionError())


def _nobody_is_seated(now: System) -> None:
    now.seating.seated = well().seating.seated
    now.seating.put_off += 300


def _the_service_token_expires(now: System) -> None:
    now.token_expires_in = 5 * DAYS


def _bots_are_not_believed(now: System) -> None:
    now.bots_kept_out = 130.0


def _the_keys_are_unsound(now: System) -> None:
    now.keys_unsound = 400.0


def _history_cannot_read(now: System) -> None:
    next(iter(now.calls["history"].values())).refused[Reason.LOG_UNAVAILABLE] += 50


HAPPENS: Final[list[tuple[str, Callable[[System], None]]]] = [
    ("BaohuangBugs", _a_call_failed),
    ("BaohuangBugs", _a_command_failed),
    ("BaohuangBugs", _a_flush_met_a_bug),
    ("BaohuangBugs", _a_worker_met_a_bug),
    ("BaohuangDatabaseFails", _flushes_are_not_sent),
    ("BaohuangDatabaseFails", _flushes_are_refused),
    ("BaohuangDatabaseFails", _history_cannot_read),
    ("BaohuangFlushesSlow", _flushes_take_a_second),
    ("BaohuangFlushHangs", _a_flush_is_not_answered),
    ("BaohuangCommandsWait", _many_commands_wait),
    ("BaohuangTimersLate", _deadlines_are_late),
    ("BaohuangNobodyPublishes", _nobody_publishes),
    ("BaohuangRelayBehind", _the_relay_is_behind),
    ("BaohuangLogWentBack", _the_stream_was_ahead),
    ("BaohuangConsumerStopped", _a_consumer_stopped),
    ("BaohuangConsumerAlarm", _a_consumer_has_an_alarm),
    ("BaohuangConsumerBehind", _a_consumer_is_behind),
    ("BaohuangSetAside", _something_is_set_aside),
    ("BaohuangSlowReaders", _readers_are_slow),
    ("BaohuangConflicts", _commands_meet),
    ("BaohuangClockOff", _the_clock_is_ahead),
    ("BaohuangClockOff", _the_clock_is_behind),
    ("BaohuangCertificateExpires", _a_certificate_expires),
    ("BaohuangCertificateExpires", _an_authority_expires),
    ("BaohuangCertificatesUnsound", _certificates_cannot_be_used),
    ("BaohuangNobodySeated", _nobody_is_seated),
    ("BaohuangServiceTokenExpires", _the_service_token_expires),
    ("BaohuangBotsKeptOut", _bots_are_not_believed),
    ("BaohuangKeysUnsound", _the_keys_are_unsound),
]


def test_nothing_is_said_while_all_is_well() -> None:
    """No alert of a system at play; every one of them has something that it looks at."""
    then = well()
    assert firing(then, later(then)) == set()


@pytest.mark.parametrize(("alert", "happens"), HAPPENS, ids=lambda one: getattr(one, "__name__", one))
def test_what_happens_is_said(alert: str, happens: Callable[[System], None]) -> None:
    """By its own alert and by no other; and all that the alert's words ask for is a label of what it found."""
    then = well()
    now = later(then)
    happens(now)
    assert firing(then, now) == {alert}
    rule = ALERTS[alert]
    asked = {found for pair in _LABEL.findall(rule["annotations"]["summary"]) for found in pair if found}
    for labels in evaluate(rule["expr"], between(then, now)):
        assert asked <= dict(labels).keys()


def test_what_was_set_aside_before_anybody_asked_is_said() -> None:
    """Until it is settled, though nothing is added to it: it was there before the first scrape, or the restart."""
    then = well()
    _something_is_set_aside(then)
    assert firing(then, later(then)) == {"BaohuangSetAside"}


@pytest.mark.parametrize("service", SERVED)
def test_a_service_that_is_gone_is_named(service: str) -> None:
    """Each of all of them, by the name of its Deployment."""
    then = well()
    now = later(then)
    now.up.remove(service)
    found = evaluate(ALERTS["BaohuangServiceMissing"]["expr"], between(then, now))
    assert [dict(labels)["job"] for labels in found] == [service]
    assert firing(then, now) >= {"BaohuangServiceMissing", "BaohuangReplicaMissing"}


def test_every_alert_has_something_that_happens() -> None:
    """None is left that could never fire."""
    assert {alert for alert, _ in HAPPENS} | {"BaohuangServiceMissing", "BaohuangReplicaMissing"} == set(ALERTS)
