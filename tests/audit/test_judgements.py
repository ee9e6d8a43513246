"""A judgement as it is sent to a player: in words, complete, and saying first whether it still stands."""

import json
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, Final

from msgspec import structs

from audit.honest import OPERATOR, PLAYERS, Play, banned, written
from baohuang.audit.explaining import explain
from baohuang.audit.findings import Check, Finding
from baohuang.audit.happenings import did, happened
from baohuang.audit.judgement import Judgement
from baohuang.audit.told import Names, Told, length
from baohuang.eventlog.codec import decode
from baohuang.eventlog.json_codec import CodecError
from baohuang.eventlog.memory import MemoryLog
from baohuang.eventlog.port import StoredEvent, StreamId, Version
from baohuang.rules import events as ev
from baohuang.rules.state import Instant, TableId
from command_line.audit.explain import Language, lines_of
from golden.histories import FOLDER, read_history

CODE: Final = re.compile(r"[a-z][A-Z]|(?<![A-Za-z])[A-Z]{2,}(?![A-Za-z-])|_|@(?! ?\d)|`")
"""A name of code: CamelCase, UPPER_CASE, snake_case, the name of a part of the service. Clause ids are none."""

ODD: Final[Sequence[Any]] = ("", "soon", "9999-12-31T23:59:59.999999Z", [], [-9, 9], 0, -9, 9)
"""What stands in a field of a ruling that was forged, where it is of the field's kind."""


def golden() -> Sequence[tuple[MemoryLog, StreamId, Sequence[StoredEvent]]]:
    """Return each golden table's log."""
    found = []
    for path in sorted(FOLDER.glob("*.jsonl")):
        history, log = read_history(path), MemoryLog()
        stream_id = StreamId(history.ending.table)
        log._streams[stream_id] = list(history.stored)
        found.append((log, stream_id, history.stored))
    return found


async def judgements(kind: type[Any] | tuple[type[Any], ...] = object) -> AsyncIterator[tuple[Judgement, Any]]:
    """Yield the judgement of each golden ruling of a kind, and the ruling."""
    for log, stream_id, stored in golden():
        for one in stored:
            event = decode(one.type, one.data)
            if ev.is_ruling(event) and isinstance(event, kind):
                yield await explain(log, stream_id, one.version), event


async def test_no_code_name_is_left_in_either_language() -> None:
    """What is printed of any golden ruling is words; in Chinese but for names and what the operator wrote."""
    seen = 0
    async for judgement, _ in judgements():
        seen += 1
        for language in Language:
            printed = "\n".join(lines_of(StreamId("a-table"), judgement, language))
            assert not CODE.search(printed), printed
        for told in (judgement.decided, *(moment.told for moment in judgement.timeline)):
            words = set(re.findall(r"[A-Za-z]{2,}", re.sub(r"（[a-z ]{4,}）|\d\S*Z", "", told.chinese)))
            assert words <= {*PLAYERS, "olga"}, told.chinese
    assert seen > 100


async def test_every_event_has_words() -> None:
    """Any event of the golden tables can be told, as what happened and as what somebody did, without code names."""
    names, kinds = Names(PLAYERS), set()
    for _, _, stored in golden():
        for one in stored:
            event = decode(one.type, one.data)
            kinds.add(type(event).__name__)
            for told in (happened(event, names), did(event, names), happened(event, Names())):
                assert not CODE.search(told.english + told.chinese), told
    assert kinds | {"SeatWentOut", "PlayerBanned", "PlayerReinstated"} == set(ev.EVENT_TYPES)
    for rare in (ev.SeatWentOut(1), ev.RoleRevealed(1, solo=True), ev.RoleRevealed(1, solo=False)):
        assert "bo (seat 1)" in happened(rare, names).english


def test_findings_are_told_in_both_languages() -> None:
    """Each kind, with and without a version."""
    for check in Check:
        for version in (0, 7):
            told = Finding(check, StreamId("t"), Version(version), "left 1 is recorded").told
            assert "recorded" not in told.english or check is not Check.RULING
            assert re.search("[\u4e00-\u9fff]", told.chinese)
            assert ("7" in told.english, "7" in told.chinese) == (version == 7, version == 7)


def test_lengths_are_said_as_one_says_them() -> None:
    """Milliseconds, seconds, minutes."""
    began = Instant("2026-01-31T08:05:09.000123Z")
    cases = {
        "2026-01-31T08:05:09.011123Z": Told("11 ms", "11 毫秒"),
        "2026-01-31T08:05:09.000623Z": Told("0.5 ms", "0.5 毫秒"),
        "2026-01-31T08:05:12.050123Z": Told("3.05 s", "3.05 秒"),
        "2026-01-31T08:07:14.000123Z": Told("2 min 5 s", "2 分 5 秒"),
    }
    assert {until: length(began, Instant(until)) for until in cases} == cases


async def test_a_fine_tells_when_the_roles_were_settled() -> None:
    """Or that they were not; and not in which turn it was (FINE-3)."""
    settled = set()
    async for judgement, fine in judgements(ev.PlayerFined):
        english = " ".join(moment.told.english for moment in judgement.timeline)
        assert ("with that the roles were settled" in english) == fine.roles_settled
        assert ("by then the roles were not settled" in english) != fine.roles_settled
        assert "the turn of" not in english
        settled.add(fine.roles_settled)
    assert settled == {True, False}


async def test_a_deadline_not_enforced_tells_what_was_allowed() -> None:
    """How late the clock was read, and the table's grace (TRUST-5)."""
    seen = 0
    async for judgement, _ in judgements(ev.TurnExtended):
        seen += 1
        assert any("s after the deadline, 3 s being allowed: " in one.told.english for one in judgement.timeline)
        assert any("（允许 3 秒）" in one.told.chinese for one in judgement.timeline)
    assert seen


async def test_one_sentence_of_a_long_clause_is_quoted() -> None:
    """Of RULE-1 what is about reversals with a reversal, of TRUST-3 what is about the fourth entry."""
    async for judgement, _ in judgements((ev.FineReversed, ev.VoidReversed)):
        assert judgement.clause.english.startswith("An operator may reverse")
    async for judgement, ruling in judgements(ev.TrusteeshipMadePermanent):
        if ruling.rule == "TRUST-3":
            assert judgement.clause.english == "the fourth entry in one hand is permanent for that hand"
            entries = [one for one in judgement.timeline if "entered trusteeship" in one.told.english]
            assert len(entries) == 4


async def test_what_was_taken_back_says_so_first() -> None:
    """A fine, a void, a ban: by whom, where and why; in both languages; else there is nothing to say."""
    log, trusted = MemoryLog(), Play(TableId("trusted"), "homy-standard", 1)
    tables = [await written(log, trusted.table_id, trusted.all_trustees()), await banned(log, "an", 2)]
    kinds = set()
    for stream_id in tables:
        stored = await log.read_stream(stream_id)
        by = {getattr(decode(one.type, one.data), "reverses", None): one for one in stored}
        for one in stored:
            event = decode(one.type, one.data)
            if not ev.is_ruling(event):
                continue
            if isinstance(event, ev.PlayerBanned) and one.version < len(stored):
                by[one.version] = stored[one.version]
            back, reverses = (await explain(log, stream_id, one.version)).reversed_by, by.get(one.version)
            assert (back.version if back else None) == (reverses.version if reverses else None)
            if back:
                kinds.add(one.type)
                assert f"at version {back.version} by {OPERATOR}: {back.reason}" in back.told.english
                printed = lines_of(stream_id, await explain(log, stream_id, one.version), Language.CHINESE)
                assert printed[0] == f"{stream_id} @ {one.version}: {back.told.chinese}"
    assert kinds == {"PlayerFined", "HandVoided", "PlayerBanned"}


async def test_a_missed_turn_tells_its_opening_and_the_line_reported_later() -> None:
    """After extensions all of them and how the turn began; a line that was lost before, though recorded behind."""
    log, play = MemoryLog(), Play(TableId("late"), "ourgame-simple", 1)
    stream_id = await written(log, play.table_id, play.late_report())
    stored = await log.read_stream(stream_id)
    *_, entered, lost = [one for one in stored if one.type in ("TrusteeshipEntered", "ConnectionLost")]
    extended = [one.version for one in stored if one.type == "TurnExtended"]
    timeline = (await explain(log, stream_id, entered.version)).timeline
    assert extended
    assert set(extended) < {moment.version for moment in timeline}
    assert any("asked first; the turn of " in moment.told.english for moment in timeline)
    (line,) = [moment for moment in timeline if moment.version == lost.version]
    assert line.told.english.endswith("(recorded after the ruling)")
    assert line.told.chinese.endswith("（裁定之后才记录）")
    assert line.at < timeline[-1].at
    assert timeline[-1].version == entered.version


async def test_a_forged_ruling_is_told_all_the_same() -> None:
    """Whatever stands in its fields, moments that are none or no seats at all: it is told, and does not follow."""
    kinds = set()
    for log, stream_id, stored in golden():
        for place, one in enumerate(stored):
            if not ev.is_ruling(decode(one.type, one.data)) or one.type in kinds:
                continue
            kinds.add(one.type)
            for data in forged(one):
                log._streams[stream_id][place] = structs.replace(one, data=data)
                judgement = await explain(log, stream_id, one.version)
                assert (judgement.follows, bool(judgement.wrong)) == (False, True)
            log._streams[stream_id][place] = one
    assert len(kinds) > 8


def forged(one: StoredEvent) -> Iterator[bytes]:
    """Give the event with something odd in each of its fields, as long as that is still such an event."""
    fields = json.loads(one.data)
    for name, value in fields.items():
        for odd in ODD:
            if type(odd) is type(value) and odd != value:
                data = json.dumps(fields | {name: odd}).encode()
                try:
                    decode(one.type, data)
                except CodecError:
                    continue
                yield data
