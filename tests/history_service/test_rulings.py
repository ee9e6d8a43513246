"""ListRulings and ExplainRuling: what is sought, page after page; what is told where the record is forged."""

import asyncpg
import grpc

from audit.forging import Forger, first_of, with_fields
from audit.honest import Play, recorded, written
from baohuang.audit.clauses import Clause
from baohuang.audit.explaining import explain
from baohuang.audit.judgement import Judgement, Moment, Reversal
from baohuang.audit.told import Told
from baohuang.client.records import Explanation
from baohuang.eventlog.codec import decode
from baohuang.eventlog.port import NO_VERSION, EventLog, StreamId, Version
from baohuang.gen.history.v1 import history_service_pb2 as pb
from baohuang.gen.table.v1 import table_service_pb2 as table_pb
from baohuang.rpc.messages import from_proto
from baohuang.rules import events as ev
from baohuang.rules.state import Instant, Phase, TableId
from bench.random_player import chance_of
from history_service.serving import Caller
from table_service.history.messages import judgement_message
from table_service.history.sight import Sight
from tables.clients import fresh
from tables.games import started
from tables.replicas import Replica

TABLES = tuple(f"0000000{number}-0000-7000-8000-000000000000" for number in range(2))


async def listed(caller: Caller, **wanted: object) -> list[pb.Ruling]:
    """Return all pages of a listing of small pages."""
    request = pb.ListRulingsRequest(page_size=3, **wanted)  # type: ignore[arg-type]
    found: list[pb.Ruling] = []
    while True:
        page = await caller.call(request)
        assert len(page.rulings) <= request.page_size
        found += page.rulings
        if not page.next_page_token:
            return found
        request.page_token = page.next_page_token


async def test_every_filter(log: EventLog, spectator: Caller) -> None:
    """Each finds what it says of all rulings, newest first; every one is told in both languages, and follows."""
    for table_id in TABLES:
        await recorded(log, Play(TableId(table_id), "ourgame-simple", table_id, restless=0.1), hands=2)
    operator = spectator.operator
    stored = [one for one in await log.read_all(limit=10_000) if ev.is_ruling(decode(one.type, one.data))]
    everything = await listed(operator)
    assert [one.recorded.position for one in everything] == [one.position for one in reversed(stored)]
    assert len(everything) > 10
    middle = everything[len(everything) // 2].recorded.recorded_at
    kinds = ["TrusteeshipEntered", "TableClosed"]
    assert await listed(operator, table_id=TABLES[0]) == [
        one for one in everything if one.recorded.table_id == TABLES[0]
    ]
    assert await listed(operator, player="bo") == [one for one in everything if "bo" in one.players]
    assert await listed(operator, kinds=kinds) == [one for one in everything if one.recorded.type in kinds]
    assert await listed(operator, clause="TRUST-1") == [one for one in everything if one.clause == "TRUST-1"]
    assert await listed(operator, since=middle) == [one for one in everything if one.recorded.recorded_at >= middle]
    assert await listed(operator, until=middle) == [one for one in everything if one.recorded.recorded_at < middle]
    for ruling, one in zip(everything, reversed(stored), strict=True):
        assert ruling.decided.english
        assert ruling.decided.chinese
        assert decode(one.type, one.data).rule == ruling.clause  # type: ignore[union-attr] # a ruling's


async def test_a_ruling_is_explained_as_the_audit_does(log: EventLog, spectator: Caller) -> None:
    """The same judgement, to everybody."""
    await recorded(log, Play(TableId(TABLES[0]), "homy-qingdao", 1, restless=0.1), hands=1)
    for ruling in await listed(spectator, table_id=TABLES[0]):
        version = Version(ruling.recorded.version)
        told = (await spectator.call(pb.ExplainRulingRequest(table_id=TABLES[0], version=version))).judgement
        judgement = await explain(log, StreamId(TABLES[0]), version)
        assert (told.version, told.kind, told.clause) == (version, judgement.ruling, judgement.rule)
        assert (told.decided.english, told.decided.chinese) == (judgement.decided.english, judgement.decided.chinese)
        assert told.clause_text.english == judgement.clause.english
        assert told.decided_at == judgement.decided_at
        assert [(one.at, one.version, one.told.english) for one in told.timeline] == [
            (one.at, one.version, one.told.english) for one in judgement.timeline
        ]
        assert told.follows
        assert not told.HasField("reversed_by")


async def test_what_was_taken_back_says_so(log: EventLog, spectator: Caller) -> None:
    """To whom it is about as to everybody, of the ruling that was taken back and of no other; in both languages."""
    trusted = Play(TableId(TABLES[0]), "homy-standard", 1)
    await written(log, trusted.table_id, trusted.all_trustees())
    backs = {}
    for ruling in await listed(spectator, table_id=TABLES[0]):
        request = pb.ExplainRulingRequest(table_id=TABLES[0], version=ruling.recorded.version)
        told = (await spectator.call(request)).judgement
        assert told.HasField("reversed_by") == ruling.HasField("reversed_by")
        if told.HasField("reversed_by"):
            back = told.reversed_by
            assert (back.version, back.by, back.reason) == (ruling.reversed_by, "olga", "it was our fault")
            assert back.reason in back.told.english
            assert back.reason in back.told.chinese
            backs[told.kind] = back.decided_at
    assert set(backs) == {"PlayerFined", "HandVoided"}


def test_what_is_not_shown_yet_is_not_told_of_a_ruling() -> None:
    """Neither that it was taken back, nor a line's loss, where those stand behind what the caller is shown."""
    text = Told("a", "b")
    judgement = Judgement(
        Version(7), "PlayerFined", text, "FINE-3", Clause("a", "b"), Instant("t"),
        (Moment(Instant("s"), Version(6), text), Moment(Instant("s"), Version(9), text)), follows=True,
        reversed_by=Reversal(Version(10), Instant("u"), "olga", "why", text),
    )  # fmt: skip
    for shown, moments, is_back in ((8, [6], False), (9, [6, 9], False), (10, [6, 9], True)):
        told = judgement_message(judgement, Sight(NO_VERSION, Version(shown), None))
        assert ([one.version for one in told.timeline], told.HasField("reversed_by")) == (moments, is_back)
        read = from_proto(told, Explanation)
        assert (read.reversed_by, read.wrong) == (judgement.reversed_by if is_back else None, ())


async def test_what_is_no_ruling(service: Replica, spectator: Caller) -> None:
    """A version with another event, and one that there is not."""
    game = await started(service)
    refused = await spectator.refused(pb.ExplainRulingRequest(table_id=game.table_id, version=1))
    assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "NOT_A_RULING")
    refused = await spectator.refused(pb.ExplainRulingRequest(table_id=game.table_id, version=100_000))
    assert (refused.code, refused.reason) == (grpc.StatusCode.NOT_FOUND, "NO_SUCH_VERSION")


async def test_what_should_have_been_is_no_way_to_see_cards(
    service: Replica, spectator: Caller, log: EventLog, own_database_dsn: str
) -> None:
    """On a forged record of a hand that is played players learn that it is wrong, operators also what would follow."""
    game = await started(service)
    await game.reach(Phase.PLAY, chance_of("forged play"))
    await game.step(chance_of("forged play"))
    await game.clients[1].call(table_pb.SetTrusteeshipRequest(request_id=fresh(), table_id=game.table_id, active=True))
    superuser = await asyncpg.connect(own_database_dsn)
    try:
        await superuser.execute("set session_replication_role = replica")
        await Forger(superuser, log).rewrite(
            StreamId(game.table_id),
            lambda events: [
                with_fields(one, left=1) if place == first_of(events, ev.CardsPlayed) else one
                for place, one in enumerate(events)
            ],
        )
    finally:
        await superuser.close()
    (ruling,) = (await spectator.call(pb.ListRulingsRequest(table_id=game.table_id))).rulings
    request = pb.ExplainRulingRequest(table_id=game.table_id, version=ruling.recorded.version)
    told = (await spectator.call(request)).judgement
    assert (told.follows, list(told.findings)) == (False, ["what is wrong is told once the hand is over"])
    assert [one.english for one in told.wrong] == list(told.findings)
    assert "left 1 is recorded" in (await spectator.operator.call(request)).judgement.findings[0]
