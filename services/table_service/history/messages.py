"""What comes out of the record, put into the contract's messages."""

from collections.abc import Sequence
from typing import Any

from baohuang.audit.findings import Finding
from baohuang.audit.judgement import Judgement, Moment, Reversal, decided
from baohuang.audit.told import Told
from baohuang.eventlog.chain import digest_of, instant
from baohuang.eventlog.codec import decode
from baohuang.eventlog.json_codec import CodecError
from baohuang.eventlog.port import StoredEvent
from baohuang.gen.history.v1 import history_service_pb2 as pb
from baohuang.gen.history.v1 import judgement_pb2
from baohuang.gen.table.v1 import table_view_pb2
from baohuang.rpc.event_messages import event_to_proto
from baohuang.rpc.messages import to_proto
from baohuang.rpc.paging import token_of
from baohuang.rules.events import Event
from table_service.history.api import Page
from table_service.history.listing import SeenEvent, SeenRuling
from table_service.history.past import PastTable
from table_service.history.sight import Sight

_WITHHELD = Told("what is wrong is told once the hand is over", "何处不符，该局结束后告知")


def events_page(events: Sequence[pb.RecordedEvent], page: Page) -> pb.ListEventsResponse:
    """Return the page out of as many events as it holds, or one more."""
    shown = events[: page.size]
    token = token_of(page.digest, str(shown[-1].position)) if len(events) > page.size else ""
    return pb.ListEventsResponse(events=shown, next_page_token=token)


def rulings_page(rulings: Sequence[pb.Ruling], page: Page) -> pb.ListRulingsResponse:
    """Return the page out of as many rulings as it holds, or one more."""
    shown = rulings[: page.size]
    token = token_of(page.digest, str(shown[-1].recorded.position)) if len(rulings) > page.size else ""
    return pb.ListRulingsResponse(rulings=shown, next_page_token=token)


def event_message(seen: SeenEvent) -> pb.RecordedEvent:
    """Return an event as it may be seen; without its content if that is newer than this service, or no such event."""
    return _recorded(seen.stored, _decoded(seen.stored), seen.sight)


def table_message(past: PastTable) -> pb.GetTableAtResponse:
    """Return a table as it was."""
    view = to_proto(past.table, table_view_pb2.TableView)
    view.version, view.hash = past.last.version, past.last.hash
    if past.seat is not None:
        view.viewer_seat = past.seat
    return pb.GetTableAtResponse(table=view, recorded_at=instant(past.last.recorded_at))


def judgement_message(judgement: Judgement, sight: Sight) -> judgement_pb2.Judgement:
    """Return a judgement. What follows instead of a move may be a card that nobody has seen yet: so it is kept back.

    So is what stands behind the ruling and is not shown yet.
    """
    findings, wrong, back = judgement.findings, judgement.wrong, judgement.reversed_by
    if findings and not sight.opens(judgement.version):
        findings, wrong = (_WITHHELD.english,), (_WITHHELD,)
    return judgement_pb2.Judgement(
        version=judgement.version,
        kind=judgement.ruling,
        decided=_told(judgement.decided),
        clause=judgement.rule,
        clause_text=judgement_pb2.Told(english=judgement.clause.english, chinese=judgement.clause.chinese),
        decided_at=judgement.decided_at,
        timeline=[_moment(one) for one in judgement.timeline if sight.shows(one.version)],
        follows=judgement.follows,
        findings=findings,
        wrong=map(_told, wrong),
        reversed_by=_reversal(back) if back is not None and sight.shows(back.version) else None,
    )


def finding_message(finding: Finding) -> pb.Finding:
    """Return a finding."""
    return pb.Finding(
        check=finding.check.value, version=finding.version, clause=finding.clause, message=finding.message
    )


def ruling_message(seen: SeenRuling) -> pb.Ruling:
    """Return a ruling at a glance."""
    ruling = seen.ruling
    event: Any = _decoded(ruling.event)
    recorded = _recorded(ruling.event, event, seen.sight)
    if event is None:
        return pb.Ruling(recorded=recorded)
    return pb.Ruling(
        recorded=recorded,
        clause=event.rule,
        players=ruling.players,
        decided_at=event.decided_at,
        decided=_told(decided(event)),
        reversed_by=seen.reversed_by,
    )


def _recorded(stored: StoredEvent, event: Event | None, sight: Sight) -> pb.RecordedEvent:
    message = pb.RecordedEvent(
        position=stored.position,
        table_id=stored.stream_id,
        version=stored.version,
        hash=stored.hash,
        hidden_digest=_digest(stored),
        recorded_at=instant(stored.recorded_at),
        actor=stored.actor,
        type=stored.type,
        event=event_to_proto(sight.of(stored.version, event)) if event else None,
    )
    if sight.opens(stored.version):
        message.salt, message.request_id = stored.salt, stored.request_id
    return message


def _decoded(stored: StoredEvent) -> Event | None:
    try:
        return decode(stored.type, stored.data)
    except CodecError:
        return None


def _digest(stored: StoredEvent) -> bytes:
    try:
        return digest_of(stored)
    except ValueError:
        return b""  # what is stored is no event: the chain, which no digest continues then, tells so


def _told(told: Told) -> judgement_pb2.Told:
    return judgement_pb2.Told(english=told.english, chinese=told.chinese)


def _reversal(back: Reversal) -> judgement_pb2.Reversal:
    return judgement_pb2.Reversal(
        version=back.version, decided_at=back.decided_at, by=back.by, reason=back.reason, told=_told(back.told)
    )


def _moment(moment: Moment) -> judgement_pb2.Moment:
    return judgement_pb2.Moment(at=moment.at, version=moment.version, told=_told(moment.told))
