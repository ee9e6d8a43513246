"""Thousands of requests that nobody would send, to the history service: it only ever reads, but for ReverseRuling."""

import math
from collections import Counter

import grpc
from structlog.testing import capture_logs

from audit.honest import PLAYERS, Play, banned, recorded
from baohuang.eventlog.port import EventLog
from baohuang.rpc.paging import token_of
from baohuang.rules.events import EVENT_TYPES
from baohuang.rules.state import TableId
from bench.random_player import chance_of
from history_service.serving import history
from tables.fuzzing import fire_all, methods_of
from tables.messages import AnyMessage
from tables.replicas import Replica
from tables.shooting import Shooting, check

REQUESTS = 3_000
BATCH = 100
TABLES = tuple(f"0000000{number}-0000-7000-8000-000000000000" for number in range(3))
INSTANTS = ("2026-01-31T08:05:09Z", "2026-01-31T09:05:09.000123+01:00", "", "2026-13-01T00:00:00Z", "now")
LIKELY = {
    "player": (*PLAYERS, "olga"),
    "types": tuple(EVENT_TYPES),
    "kinds": ("PlayerFined", "TrusteeshipEntered", "HandVoided", "TableClosed"),
    "clause": ("TRUST-1", "FINE-3", "RULE-1", "X"),
    "since": INSTANTS,
    "until": INSTANTS,
    "instant": INSTANTS,
    "invitation_code": ("", "correct-horse-battery"),
    "page_token": ("", "", "", token_of("7", "2"), token_of("7"), token_of("a" * 16, "9" * 19), token_of("x", "-1")),
    "reason": ("a good reason", "x" * 200, "x" * 201),
}
"""Texts that are sound, or nearly."""
DECIDED = (grpc.StatusCode.OK, grpc.StatusCode.FAILED_PRECONDITION)


async def test_any_request_gets_a_clear_answer(service: Replica, log: EventLog, own_database_dsn: str) -> None:
    """Never INTERNAL, never UNKNOWN, nothing logged as a failure; nothing is changed but by reversals; it lives.

    Every method is reached by what is sound and by what is not.
    """
    for number, table_id in enumerate(TABLES):
        await recorded(log, Play(TableId(table_id), "ourgame-simple", number, restless=0.1), hands=1)
    await banned(log, "an", 2)
    before = [(one.position, one.hash) for one in await log.read_all(limit=100_000)]
    statuses: Counter[tuple[str, grpc.StatusCode]] = Counter()
    dice = chance_of("any request", "history")
    async with history(own_database_dsn, service.address, rate_limit_per_second=math.inf) as caller:
        methods = await methods_of(caller.channel)
        shooting = Shooting(dice, AnyMessage(dice, (*TABLES, "player:an"), LIKELY), methods)
        shooting.players = PLAYERS
        with capture_logs() as lines:
            for _ in range(REQUESTS // BATCH):
                shots = [shooting.shot() for _ in range(BATCH)]
                for shot, result in zip(shots, await fire_all(caller.channel, shots), strict=True):
                    check(shot, result)
                    statuses[shot.method.name, result.code] += 1
    assert not [line for line in lines if line["log_level"] == "error"]
    after = await log.read_all(limit=100_000)
    assert [(one.position, one.hash) for one in after[: len(before)]] == before
    assert {one.type for one in after[len(before) :]} <= {"FineReversed", "VoidReversed"}
    for method in methods:
        assert any(statuses[method.name, code] for code in DECIDED), f"{method.name} was never decided"
        assert statuses[method.name, grpc.StatusCode.INVALID_ARGUMENT], f"{method.name} was never malformed"
